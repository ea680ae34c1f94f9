import { expect, test } from 'vitest'
import { assertConfirmed, confirmAll } from './confirm-all.ts'
import type { Ownership } from './hold-lease.ts'

const lease = (confirmed: boolean | undefined): Ownership => ({ confirm: async () => confirmed }) as unknown as Ownership

test.each<[(boolean | undefined)[], boolean | undefined]>([
  [[true, true], true],
  [[true, undefined], undefined],
  [[undefined, false], false],
  [[true, false], false],
])('of %j one that is lost counts most, then one of which nobody can say: %s', async (each, all) => {
  expect(await confirmAll(each.map(lease))).toBe(all)
})

test('that nobody can say is no word of another owner', () => {
  expect(() => assertConfirmed(undefined)).toThrow(expect.objectContaining({ name: 'RunError', kind: 'deadline' }))
  expect(() => assertConfirmed(false)).toThrow(expect.objectContaining({ name: 'RunError', kind: 'conflict' }))
  expect(() => assertConfirmed(true)).not.toThrow()
})
