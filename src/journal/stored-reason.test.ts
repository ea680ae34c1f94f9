import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { said } from '../cli/testing/samples.ts'
import type { Reason } from '../reasons/reason.ts'
import { reasonWords } from '../report/words/words.ts'
import { storedReason } from './stored-reason.ts'

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
const because = (depth: number): Reason =>
  depth === 0 ? { code: 'settling' } : { code: 'tries-again', because: because(depth - 1) }
const pods = (count: number): Reason => ({
  code: 'pods',
  pods: Array.from({ length: count }, (_, index) => ({ uid: `uid-${index}`, pod: `web-${index}`, reason: said('it crashed') })),
})

test('one that has room is kept as it is', () => {
  for (const reason of [pods(3), because(3), said('x')]) expect(storedReason(reason, 1_000)).toEqual(reason)
})

test('of a long list the first are kept, and the others are counted, also those that were left out before', () => {
  const kept = storedReason(pods(2_400), 4_000)
  expect(kept).toMatchObject({ code: 'pods', more: 2_380 })
  expect(reasonWords(kept)).toMatch(/^web-0: it crashed; .*; and 2380 more$/)
  expect(storedReason(kept, 1_000)).toMatchObject({ code: 'pods', more: 2_392 })
})

test('lists of lists are counted with the reason that has them', () => {
  const names = Array.from({ length: 30 }, (_, index) => `web-${index}`)
  const open: Reason = { code: 'stays-open', runs: [{ pods: names }, { run: 'b', pods: names }] }
  expect(storedReason({ code: 'tries-again', because: open }, 2_000)).toMatchObject({ because: { more: 20 } })
})

test('of one that is too deep the code is kept where it is cut, and of one that stays too long its own', () => {
  const kept = storedReason(because(1_000), 1_000)
  expect(reasonWords(kept)).toContain('tries-again, of which the record has no more')
  const long = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field-${index}`, 'x'.repeat(300)]))
  const other = { code: 'of-a-later-version', ...long } as unknown as Reason
  expect(storedReason(other, 1_000)).toEqual({ code: 'too-long-for-record', of: 'of-a-later-version' })
})

test('a command is kept whole, or not at all', () => {
  const resolve = {
    command: 'kubectl',
    namespace: 'shop',
    args: Array.from({ length: 40 }, (_, index) => `arg-${index}`),
  } as const
  const reason = { code: 'lease-counted-out', lease: 'l', transitions: 7, setBack: resolve } as const
  expect(storedReason(reason, 1_000)).toEqual(reason)
  expect(storedReason(reason, 300)).toMatchObject({ code: 'too-long-for-record' })
})

test('whatever it is, it has room in what it is given', () => {
  const reasons = fc.letrec<{ reason: Reason; value: unknown }>((tie) => ({
    reason: fc
      .tuple(fc.string(), fc.dictionary(fc.string({ maxLength: 5 }), tie('value')))
      .map(([code, fields]) => ({ ...fields, code }) as unknown as Reason),
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string({ maxLength: 400, unit: 'grapheme' }),
      fc.array(tie('value'), { maxLength: 10 }),
      tie('reason'),
    ),
  })).reason
  fc.assert(
    fc.property(reasons, fc.constantFrom(600, 4_000), (reason, most) => {
      expect(bytesOf(storedReason(reason, most))).toBeLessThanOrEqual(most)
    }),
  )
})
