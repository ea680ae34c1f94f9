import { expect, test } from 'vitest'
import { applyJsonPatch, PatchFailure } from './json-patch.ts'

const document = Object.freeze({
  metadata: Object.freeze({ labels: Object.freeze({ app: 'web', 'a/b': 'c' }) }),
  spec: Object.freeze({
    containers: Object.freeze([Object.freeze({ name: 'app', image: 'v1' }), Object.freeze({ name: 'proxy', image: 'p1' })]),
  }),
})

test('what is not changed is shared, and what was there stays as it is', () => {
  const after = applyJsonPatch(document, [{ op: 'replace', path: '/spec/containers/0/image', value: 'v2' }]) as typeof document
  expect(after.spec.containers).toEqual([
    { name: 'app', image: 'v2' },
    { name: 'proxy', image: 'p1' },
  ])
  expect(after.metadata).toBe(document.metadata)
  expect(after.spec.containers[1]).toBe(document.spec.containers[1])
  expect(document.spec.containers[0]!.image).toBe('v1')
})

test.each([
  ['adds to the end of a list', { op: 'add', path: '/spec/containers/-', value: 1 }, ['app', 'proxy', 1]],
  ['adds before an item', { op: 'add', path: '/spec/containers/0', value: 1 }, [1, 'app', 'proxy']],
  ['removes an item', { op: 'remove', path: '/spec/containers/0' }, ['proxy']],
  ['removes from the end', { op: 'remove', path: '/spec/containers/-1' }, ['app']],
  ['moves', { op: 'move', from: '/spec/containers/1', path: '/spec/containers/0' }, ['proxy', 'app']],
  ['copies', { op: 'copy', from: '/metadata/labels/app', path: '/spec/containers/0' }, ['web', 'app', 'proxy']],
] as const)('%s', (_, operation, expected) => {
  const after = applyJsonPatch(document, [operation]) as { spec: { containers: unknown[] } }
  expect(after.spec.containers.map((item) => (item as { name?: string }).name ?? item)).toEqual(expected)
})

test('keys with slashes and tildes', () => {
  const after = applyJsonPatch(document, [{ op: 'add', path: '/metadata/labels/a~1b~0', value: 'd' }]) as typeof document
  expect(after.metadata.labels).toEqual({ app: 'web', 'a/b': 'c', 'a/b~': 'd' })
})

test.each([
  ['a failed test', { op: 'test', path: '/metadata/labels/app', value: 'other' }],
  ['a test below what is missing', { op: 'test', path: '/metadata/annotations/a', value: null }],
  ['a key below what is missing', { op: 'add', path: '/metadata/annotations/a', value: 'b' }],
  ['a removed key that is missing', { op: 'remove', path: '/metadata/labels/b' }],
  ['an index that is out of bounds', { op: 'replace', path: '/spec/containers/2', value: {} }],
  ['an index that is none', { op: 'replace', path: '/spec/containers/app', value: {} }],
  ['a copy of what is missing', { op: 'copy', from: '/metadata/labels/b', path: '/metadata/labels/c' }],
  ['the whole document', { op: 'replace', path: '', value: {} }],
] as const)('refused: %s', (_, operation) => {
  expect(() => applyJsonPatch(document, [operation])).toThrow(PatchFailure)
})

test('a test against null passes for a missing key, and for no other', () => {
  expect(applyJsonPatch(document, [{ op: 'test', path: '/metadata/labels/b', value: null }])).toBe(document)
  expect(() => applyJsonPatch(document, [{ op: 'test', path: '/metadata/labels/app', value: null }])).toThrow(PatchFailure)
})
