import { expect, test } from 'vitest'
import { applyMergePatch, applyStrategicMergePatch } from './merge-patch.ts'

const names = (value: unknown) => (value as { list: { name: string }[] }).list.map(({ name }) => name)
const list = (...items: string[]) => items.map((name) => ({ name, image: `${name}:v1` }))

test('merge: null removes, maps are merged, lists are replaced, the rest is shared', () => {
  const before = { a: { b: 1, c: 2 }, containers: list('one', 'two'), kept: {} }
  const after = applyMergePatch(before, { a: { b: null, d: 3 }, containers: list('three') }) as typeof before
  expect(after).toEqual({ a: { c: 2, d: 3 }, containers: list('three'), kept: {} })
  expect(after.kept).toBe(before.kept)
  expect(before.a).toEqual({ b: 1, c: 2 })
})

test('strategic: containers are merged by name, and the others stay', () => {
  const before = { containers: list('one', 'two') }
  expect(applyStrategicMergePatch(before, { containers: [{ name: 'two', image: 'two:v2' }] })).toEqual({
    containers: [list('one')[0], { name: 'two', image: 'two:v2' }],
  })
  expect(before).toEqual({ containers: list('one', 'two') })
})

test('strategic: an item is deleted, a list is replaced, only some keys are retained', () => {
  const before = { containers: list('one', 'two'), strategy: { type: 'RollingUpdate', rollingUpdate: {} } }
  const patch = { containers: [{ name: 'one', $patch: 'delete' }], strategy: { $retainKeys: ['type'], type: 'OnDelete' } }
  expect(applyStrategicMergePatch(before, patch)).toEqual({ containers: list('two'), strategy: { type: 'OnDelete' } })
  expect(applyStrategicMergePatch(before, { containers: [{ $patch: 'replace' }, ...list('three')] })).toMatchObject({
    containers: list('three'),
  })
})

test('strategic: the order is that of the patch, or the one that it asks for', () => {
  const conditions = (...types: string[]) => types.map((type) => ({ type }))
  const before = { conditions: conditions('Ready', 'Initialized') }
  expect(applyStrategicMergePatch(before, { conditions: conditions('ContainersReady', 'Ready') })).toEqual({
    conditions: conditions('ContainersReady', 'Ready', 'Initialized'),
  })
  const ordered = { '$setElementOrder/conditions': conditions('New', 'Initialized', 'Ready'), conditions: conditions('New') }
  expect(applyStrategicMergePatch(before, ordered)).toEqual({ conditions: conditions('New', 'Initialized', 'Ready') })
})

test('control: as a plain merge patch, the same would lose the other containers', () => {
  const before = { list: list('one', 'two') }
  expect(names(applyMergePatch(before, { list: [{ name: 'two' }] }))).toEqual(['two'])
})
