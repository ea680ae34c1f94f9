import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Advice } from '../../reasons/advice.ts'
import type { Reason } from '../../reasons/reason.ts'
import { adviceLines } from './advice.ts'
import { worded } from './document.ts'
import { createWriting, words } from './words.ts'

const write = createWriting()

test('a reason of another version is shown by its code and its fields', () => {
  const later = { code: 'of-a-later-version', pods: ['web-1'] } as unknown as Reason
  expect(write.reason(later)).toBe('of-a-later-version {"pods":["web-1"]}')
  expect(write.reason({ code: 'tries-again', because: later })).toBe('of-a-later-version {"pods":["web-1"]} (tried again)')
})

test('so is one whose fields are others, where it stands, and a piece of advice', () => {
  const edited = { code: 'overlooked', pods: 7 } as unknown as Reason
  expect(write.reason({ code: 'tries-again', because: edited })).toBe('overlooked {"pods":7} (tried again)')
  const advice = { code: 'see-why', commands: [{ command: 'kubectl', namespace: 'shop' }] } as unknown as Advice
  expect(adviceLines(advice, write)).toEqual(['See why:', '  {"command":"kubectl","namespace":"shop"}'])
  const later = { code: 'ask-somebody', whom: 'ann' } as unknown as Advice
  expect(adviceLines(later, write)).toEqual(['ask-somebody {"whom":"ann"}'])
})

// A ledger is shown whichever client has written to it.
test('whatever stands in the fields of a reason, there are words for it', () => {
  const codes = fc.constantFrom(...Object.keys(words))
  const fields = fc.dictionary(
    fc.constantFrom('because', 'entries', 'pods', 'images', 'command', 'namespace', 'reason'),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(codes, fields, (code, facts) => {
      const reason = { code, ...facts } as unknown as Reason
      expect(write.reason(reason)).toBeTypeOf('string')
      expect(worded(reason, write)).toMatchObject({ code })
    }),
    { numRuns: 1_000 },
  )
})
