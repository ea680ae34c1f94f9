import { expect, test } from 'vitest'
import type { PatchOperation } from '../../pods/patch-operation.ts'
import { applyPatch } from './json-patch.ts'

const DOCUMENT = { map: { a: 1, 'x/y~z': 2, n: null }, list: ['p', 'q'], deep: { one: { two: [{ three: 3 }] } } }

test.each<{ name: string; operation: PatchOperation; passes: boolean }>([
  { name: 'a value', operation: { op: 'test', path: '/map/a', value: 1 }, passes: true },
  { name: 'another value', operation: { op: 'test', path: '/map/a', value: '1' }, passes: false },
  { name: 'null for a missing key of a map', operation: { op: 'test', path: '/map/none', value: null }, passes: true },
  { name: 'null for null', operation: { op: 'test', path: '/map/n', value: null }, passes: true },
  { name: 'null for a key that is there', operation: { op: 'test', path: '/map/a', value: null }, passes: false },
  { name: 'null below a missing map', operation: { op: 'test', path: '/none/a', value: null }, passes: false },
  { name: 'null beyond a list', operation: { op: 'test', path: '/list/2', value: null }, passes: false },
  { name: 'an index', operation: { op: 'test', path: '/list/1', value: 'q' }, passes: true },
  { name: 'an index of -1', operation: { op: 'test', path: '/list/-1', value: 'q' }, passes: false },
  { name: 'an escaped key', operation: { op: 'test', path: '/map/x~1y~0z', value: 2 }, passes: true },
  { name: 'a whole object', operation: { op: 'test', path: '/deep/one', value: { two: [{ three: 3 }] } }, passes: true },
  {
    name: 'an object with more',
    operation: { op: 'test', path: '/deep/one', value: { two: [{ three: 3 }], x: 1 } },
    passes: false,
  },
  { name: 'replace what is missing', operation: { op: 'replace', path: '/map/none', value: 1 }, passes: false },
  { name: 'remove what is missing', operation: { op: 'remove', path: '/map/none' }, passes: false },
  { name: 'add below a missing map', operation: { op: 'add', path: '/none/a', value: 1 }, passes: false },
])('$name: $passes', ({ operation, passes }) => {
  const apply = (): string => {
    try {
      applyPatch(DOCUMENT, [operation])
      return 'passes'
    } catch (error) {
      return (error as Error).name
    }
  }
  expect(apply()).toBe(passes ? 'passes' : 'PatchRefused')
})

test('add, replace and remove', () => {
  const operations: PatchOperation[] = [
    { op: 'add', path: '/map/b', value: 2 },
    { op: 'replace', path: '/map/a', value: 3 },
    { op: 'remove', path: '/map/n' },
    { op: 'add', path: '/list/1', value: 'r' },
    { op: 'add', path: '/list/-', value: 's' },
    { op: 'remove', path: '/list/0' },
  ]
  expect(applyPatch(DOCUMENT, operations)).toEqual({
    map: { a: 3, b: 2, 'x/y~z': 2 },
    list: ['r', 'q', 's'],
    deep: DOCUMENT.deep,
  })
  expect(DOCUMENT.map.a).toBe(1)
})
