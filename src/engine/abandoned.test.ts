import { expect, test } from 'vitest'
import { abandonedReasons } from './abandoned.ts'

const target = { loadBalancer: 'edge', target: 'web/web-2', scope: 'web', prior: {}, untouched: false }
const left = { uid: 'u2', pod: 'web-2', target, isAbandoned: true }

test('what only a person can settle is said as status says it, once for each pod', () => {
  const other = { ...left, target: { ...target, loadBalancer: 'inner' } }
  const edge = { loadBalancer: 'edge', target: 'web/web-2' }
  const person = {
    code: 'awaits-person',
    pod: 'web-2',
    resolve: { command: 'resolve', pod: 'web-2', namespace: 'shop', gone: true, traffic: 'in' },
  }
  expect(abandonedReasons([left, other], [{ name: 'web-2', ip: '10.0.0.9' }], 'shop')).toEqual([
    { ...person, entries: [edge, { ...edge, loadBalancer: 'inner' }], replacementAt: '10.0.0.9' },
  ])
  expect(abandonedReasons([left], [], 'shop')).toEqual([{ ...person, entries: [edge] }])
})

test('what a run settles by itself is no warning', () => {
  expect(abandonedReasons([{ ...left, isAbandoned: false }], [], 'shop')).toEqual([])
})
