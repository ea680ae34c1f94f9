import { expect, test } from 'vitest'
import { unrecordedWords } from './unrecorded-words.ts'

const POD = 'pod/web-0 is half done'
const RECORD = 'the record of run r1 cannot be read'
const UPGRADE = 'sluice upgrade brings such pods to their end'
const STATUS = 'sluice status says what to do about a record that cannot be read'

// Found by trial: an upgrade was said to help a record that no run mends.
test.each([
  [[POD], `${POD}: ${UPGRADE}`],
  [[RECORD], `${RECORD}: ${STATUS}`],
  [[POD, RECORD], `${POD}; ${RECORD}: ${UPGRADE}, and ${STATUS}`],
])('%j', (unrecorded, words) => {
  expect(unrecordedWords(unrecorded)).toBe(words)
})
