import { expect, test } from 'vitest'
import { unrecordedWords } from './unrecorded.ts'
import { createWriting } from './words.ts'

const POD = { code: 'half-done-without-record', pod: 'web-0' } as const
const RECORD = { code: 'record-of-run-unreadable', run: 'r1' } as const
const UPGRADE = 'sluice upgrade brings such pods to their end'
const STATUS = 'sluice status says what to do about a record that cannot be read'

test.each([
  [[POD], `pod/web-0 is half done: ${UPGRADE}`],
  [[RECORD], `the record of run r1 cannot be read: ${STATUS}`],
  [[POD, RECORD], `pod/web-0 is half done; the record of run r1 cannot be read: ${UPGRADE}, and ${STATUS}`],
])('the way on fits what was found: no run mends a record (%j)', (unrecorded, words) => {
  expect(unrecordedWords(unrecorded, createWriting())).toBe(words)
})
