import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { Ledger, LedgerHeader, LedgerWorkload } from '../../journal/ledger.ts'
import { isTakenOver, ofTheRest } from './taken-over.ts'

const WEB: LedgerWorkload = { ...STATEFUL_SET, name: 'web', uid: 'w' }
const API: LedgerWorkload = { ...STATEFUL_SET, name: 'api', uid: 'a' }

function ledger(startedAt: string, workloads: LedgerWorkload[], header: Partial<LedgerHeader> = {}): Ledger {
  return { header: { run: startedAt, workloads, images: [], startedAt, chunks: 1, ...header }, entries: new Map() }
}

const ENDED = { finishedAt: 'then' }
const BOTH = ledger('2', [WEB, API])

test.each<[string, boolean, Ledger]>([
  ['has come to its end with it', true, ledger('3', [WEB], ENDED)],
  ['has come to its end with it, made anew since', true, ledger('3', [{ ...WEB, uid: 'w2' }], ENDED)],
  ['is open', false, ledger('3', [WEB])],
  ['was aborted', false, ledger('3', [WEB], { ...ENDED, aborted: { by: 'ann', left: [] } })],
  ['has come to its end with some of its pods alone', false, ledger('3', [WEB], { ...ENDED, part: true })],
  ['came before', false, ledger('1', [WEB], ENDED)],
  ['is of another workload', false, ledger('3', [API], ENDED)],
])('a run that %s: its workload is taken over: %j', (_, expected, other) => {
  expect(isTakenOver(WEB, BOTH.header, [BOTH.header, other.header])).toBe(expected)
  expect(ofTheRest(BOTH, [BOTH, other]).header.workloads.includes(WEB)).toBe(!expected)
})
