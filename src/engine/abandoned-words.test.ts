import { expect, test } from 'vitest'
import { abandonedWords } from './abandoned-words.ts'

const target = { loadBalancer: 'edge', target: 'web/web-2', scope: 'web', prior: {}, untouched: false }
const left = { uid: 'u2', pod: 'web-2', target, isAbandoned: true }

test('what only a person can settle is said as status says it, once for each pod, on one line', () => {
  const other = { ...left, target: { ...target, loadBalancer: 'inner' } }
  const [said, ...rest] = abandonedWords([left, other], [{ name: 'web-2', ip: '10.0.0.9' }], 'shop')
  expect(rest).toEqual([])
  expect(said).toMatch(
    /^edge: web\/web-2, inner: web\/web-2 was drained for pod\/web-2, which is gone, .* in its place \(10\.0\.0\.9\) /,
  )
  expect(said).toMatch(/ say so: sluice resolve pod\/web-2 -n shop --gone --traffic in$/)
  expect(abandonedWords([left], [], 'shop')[0]).toContain('point the entry at the pod in its place and leave it drained')
})

test('what a run settles by itself is no warning', () => {
  expect(abandonedWords([{ ...left, isAbandoned: false }], [], 'shop')).toEqual([])
})
