import { expect, test } from 'vitest'
import { changedSlice, drained, type Place, placesOf, priorOf, restored, stateOf } from './places.ts'
import type { Slice, SliceEndpoint } from './slices.ts'

const KEY = '10.0.0.1:80'
const MARK = 'sluice.dev/drained'

function slice(name: string, conditions: SliceEndpoint['conditions'], annotations?: Record<string, string>): Slice {
  return {
    metadata: { name, resourceVersion: '7', ...(annotations === undefined ? {} : { annotations }) },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions }],
    ports: [
      { name: 'tcp', port: 80 },
      { name: 'udp', port: 80 },
    ],
  }
}
const at = (...slices: Slice[]): Place[] => placesOf(slices).get(KEY)!
const MARKED = { [MARK]: '10.0.0.1' }

test.each<[string, Slice[], string]>([
  ['not set is ready', [slice('a', undefined)], 'in'],
  ['null is ready', [slice('a', { ready: null })], 'in'],
  ['ready in one of two', [slice('a', { ready: false }), slice('b', {})], 'in'],
  ['false by sluice', [slice('a', { ready: false }, MARKED)], 'draining'],
  ['false by somebody else', [slice('a', { ready: false }, { [MARK]: '10.0.0.2' })], 'out'],
  ['a mark without ready false', [slice('a', {}, MARKED)], 'in'],
  ['serving and terminating is not ready', [slice('a', { ready: false, serving: true, terminating: true })], 'out'],
])('%s', (_, slices, state) => {
  expect(stateOf(at(...slices))).toBe(state)
})

test('a port that two protocols share is one place, and the order of places is that of the names of slices', () => {
  expect(at(slice('b', {}), slice('a', {})).map((place) => place.slice.metadata.name)).toEqual(['a', 'b'])
})

test('the prior state of places that are alike is one, and of others one each', () => {
  expect(priorOf(at(slice('a', {}), slice('b', undefined)))).toEqual([{ ready: null, serving: null }])
  expect(priorOf(at(slice('a', {}), slice('b', { serving: true })))).toEqual([
    { ready: null, serving: null },
    { ready: null, serving: true },
  ])
})

test('there and back again, the slice is what it was; with a place more, that gets the first prior state', () => {
  const [a, b] = [slice('a', { ready: true, zone: 1 }), slice('b', { serving: false }, { team: 'x' })]
  const before = at(a, b)
  const [outA, outB] = drained(before).map((change) => changedSlice(change.place.slice, [change])) as [Slice, Slice]
  expect([outA.endpoints, outA.metadata.annotations]).toEqual([
    [{ addresses: ['10.0.0.1'], conditions: { zone: 1, ready: false } }],
    MARKED,
  ])
  expect(outB.metadata.annotations).toEqual({ team: 'x', ...MARKED })
  const back = (slices: Slice[]): Slice[] =>
    restored(at(...slices), 'in', priorOf(before)).map((change) => changedSlice(change.place.slice, [change]))
  expect(back([outA, outB])).toEqual([a, b])
  const third = slice('c', { ready: false }, MARKED)
  expect(back([outA, outB, third])[2]).toEqual(slice('c', { ready: true }))
})

test('an operator’s place is left as it is, by a drain and a restore', () => {
  const own = slice('a', { ready: false })
  expect(drained(at(own, slice('b', {}))).map(({ place }) => place.slice.metadata.name)).toEqual(['b'])
  expect(restored(at(own, slice('b', { ready: false }, MARKED)), 'in', [{ ready: null, serving: null }])).toHaveLength(1)
})

test('a restore puts back an operator’s drain with its mark, and maintenance without one', () => {
  const to = (state: 'draining' | 'out'): Slice[] =>
    restored(at(slice('a', {})), state, [{ ready: false, serving: null }]).map((one) => changedSlice(one.place.slice, [one]))
  expect(to('draining')).toEqual([slice('a', { ready: false }, MARKED)])
  expect(to('out')).toEqual([slice('a', { ready: false })])
})
