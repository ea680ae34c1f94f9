import { expect, test } from 'vitest'
import type { OrderReasons } from '../../reasons/order-reasons.ts'
import type { ReasonOf } from '../../reasons/reason.ts'
import { reasonWords } from './words.ts'

const POD = { code: 'half-done-without-record', pod: 'web-0' } as const
const RECORD = { code: 'record-of-run-unreadable', run: 'r1' } as const
const UPGRADE = 'sluice upgrade brings such pods to their end'
const STATUS = 'sluice status says what to do about a record that cannot be read'
const OPEN = { asked: 'sts/web', runs: ['r1'], renewalMs: 5_000, aborted: [] }

test.each<[ReasonOf<keyof OrderReasons>, string]>([
  // The way out fits the finding: a run repairs no record.
  [
    { code: 'left-without-record', asked: 'sts/web', found: [POD] },
    `no open run of sts/web is on record, but pod/web-0 is half done: ${UPGRADE}`,
  ],
  [
    { code: 'left-without-record', asked: 'sts/web', found: [RECORD] },
    `no open run of sts/web is on record, but the record of run r1 cannot be read: ${STATUS}`,
  ],
  [
    { code: 'left-without-record', asked: 'sts/web', found: [POD, RECORD] },
    `no open run of sts/web is on record, but pod/web-0 is half done; the record of run r1 cannot be read: ${UPGRADE}, and ${STATUS}`,
  ],
  [
    { code: 'pause-given', ...OPEN, holder: 'host_7' },
    'run r1 of sts/web: it starts no new pod from the next renewal of its Lease (5 s) on, those under way come home; sluice resume goes on',
  ],
  [
    { code: 'pause-given', ...OPEN, aborted: ['r0'] },
    'run r1 of sts/web: no process is at work on it; the one that goes on with it stays paused until sluice resume; run r0 is being aborted, as before',
  ],
  [
    { code: 'pause-lifted', ...OPEN, by: 'ann@desk', command: 'undo' },
    'run r1 of sts/web: the pause by ann@desk is lifted; no process is at work on it: the same undo command goes on',
  ],
  [
    { code: 'pause-lifted', ...OPEN, by: 'ann@desk', holder: 'host_7' },
    'run r1 of sts/web: the pause by ann@desk is lifted; it goes on from the next renewal of its Lease (5 s) on; where its process is dead, the same command goes on',
  ],
  [{ code: 'abort-done', asked: 'sts/web', runs: ['r1', 'r2'], left: [] }, 'runs r1, r2 of sts/web are aborted'],
  [
    { code: 'abort-done', asked: 'sts/web', runs: ['r1'], left: [{ code: 'error', said: 'no' }] },
    'run r1 of sts/web is aborted, but no',
  ],
])('%j', (reason, words) => {
  expect(reasonWords(reason)).toBe(words)
})
