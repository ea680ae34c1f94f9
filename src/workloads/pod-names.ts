const SHOWN = 3

/** `web-0, web-1, web-2 and 7 more`, with the right number of the word before it. */
export function podNames(pods: readonly { name: string }[]): string {
  const names = pods.map(({ name }) => name).sort()
  const hidden = names.length - SHOWN
  const shown = names.slice(0, SHOWN).join(', ')
  return `${pods.length === 1 ? 'pod' : 'pods'} ${hidden > 0 ? `${shown} and ${hidden} more` : shown}`
}
