import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { operationId } from './operation.ts'

const journal = { run: 'run-1', attempt: 1 }
const id = operationId(journal, 'uid-0', 'drain', 'edge/web-0')

test('the same for every owner of an attempt: a run that adopts it keeps the name of the one that opened it', () => {
  expect(operationId({ run: 'run-2', origin: 'run-1', attempt: 1 }, 'uid-0', 'drain', 'edge/web-0')).toBe(id)
  expect(operationId({ run: 'run-3', origin: 'run-1', attempt: 1 }, 'uid-0', 'drain', 'edge/web-0')).toBe(id)
})

test('pinned: balancers with key memory know it by this name across versions of sluice', () => {
  expect(id).toMatchInlineSnapshot(`"fa2cfc075935397d80aac9b63bcc026b"`)
})

test.each([
  { name: 'run', other: operationId({ ...journal, run: 'run-2' }, 'uid-0', 'drain', 'edge/web-0') },
  { name: 'attempt', other: operationId({ ...journal, attempt: 2 }, 'uid-0', 'drain', 'edge/web-0') },
  { name: 'pod', other: operationId(journal, 'uid-1', 'drain', 'edge/web-0') },
  { name: 'kind', other: operationId(journal, 'uid-0', 'restore', 'edge/web-0') },
  { name: 'target', other: operationId(journal, 'uid-0', 'drain', 'edge/web-1') },
  { name: 'load balancer', other: operationId(journal, 'uid-0', 'drain', 'inner/web-0') },
])('another for another $name', ({ other }) => {
  expect(other).not.toBe(id)
})

test('distinct wherever a part differs, also where the parts run together', () => {
  const parts = fc.tuple(
    fc.string({ maxLength: 4 }),
    fc.string({ maxLength: 4 }),
    fc.nat({ max: 30 }),
    fc.string({ maxLength: 4 }),
  )
  fc.assert(
    fc.property(fc.uniqueArray(parts, { selector: (one) => JSON.stringify(one), minLength: 2, maxLength: 50 }), (all) => {
      const ids = all.map(([run, uid, attempt, target]) => operationId({ run, attempt }, uid, 'drain', target))
      expect(new Set(ids).size).toBe(all.length)
      expect(ids.every((one) => /^[0-9a-f]{32}$/.test(one))).toBe(true)
    }),
  )
})
