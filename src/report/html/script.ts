/** The script filters the page. Without it the page is complete. */
export const SCRIPT = `
document.documentElement.classList.add('js')
const text = document.getElementById('filter')
const outcome = document.getElementById('outcome')
const count = document.getElementById('count')
const marked = [...document.querySelectorAll('[data-find]')]
function apply() {
  const wanted = text.value.trim().toLowerCase()
  let shown = 0
  for (const element of marked) {
    const isShown = element.dataset.find.includes(wanted) && (outcome.value === '' || element.dataset.outcome === outcome.value)
    element.hidden = !isShown
    if (isShown && element.tagName === 'TR') shown += 1
  }
  count.textContent = shown + ' of ' + marked.filter((element) => element.tagName === 'TR').length + ' pods'
}
text.addEventListener('input', apply)
outcome.addEventListener('change', apply)
document.getElementById('expand').addEventListener('click', () => {
  const pods = [...document.querySelectorAll('details.pod:not([hidden])')]
  const isOpening = pods.some((pod) => !pod.open)
  for (const pod of pods) pod.open = isOpening
})
apply()
`
