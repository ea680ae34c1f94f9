import { expect, test } from 'vitest'
import type { MissingReasons } from '../../reasons/missing-reasons.ts'
import type { ReasonOf } from '../../reasons/reason.ts'
import { reasonWords } from './words.ts'

const PODS = ['a', 'b', 'c', 'd', 'e', 'f']

test.each<[ReasonOf<keyof MissingReasons>, string]>([
  [
    { code: 'no-account', finished: false },
    'A process keeps its account when it ends: times, calls and proofs of one at work, or killed, are missing.',
  ],
  [{ code: 'no-account', finished: true }, 'No process has kept an account of this run: times, calls and proofs are missing.'],
  [
    { code: 'first-account-lost', before: 'T2', begunAt: 'T1' },
    'The run was begun by a process whose account is not here, at T1: what it did before T2 is missing. A process that is killed keeps none.',
  ],
  [
    { code: 'first-account-lost', before: 'T2' },
    'The run was begun by a process whose account is not here: what it did before T2 is missing. A process that is killed keeps none.',
  ],
  [
    { code: 'owner-unknown', fromEpoch: 1, toEpoch: 3, accountsLost: false },
    'Between epoch 1 and epoch 3 the workload had another owner, who has left no account in this run: a process of it that was killed, or somebody else.',
  ],
  [
    { code: 'owner-unknown', fromEpoch: 1, toEpoch: 3, accountsLost: true },
    'Between epoch 1 and epoch 3 the workload had another owner, who has left no account in this run: a process of it that was killed or whose account was not kept, or somebody else.',
  ],
  [
    { code: 'processes-not-kept', processes: 1, kept: 8 },
    'Of one process of the run the account is not kept: of one run those of 8 are.',
  ],
  [
    { code: 'told-not-kept', what: 'done', pods: PODS, kept: 3 },
    'Of a, b, c, d, e, 1 more not all that was done is kept: of one pod the ledger keeps the last 3 processes that did something with it. Phases, calls, restarts and proofs of those before are missing.',
  ],
  [
    { code: 'told-not-kept', what: 'told', pods: ['a'], kept: 2 },
    'Of a not all that was told is kept: of one pod the ledger keeps the last 2 processes that told of it and did nothing with it. No call is missing for that.',
  ],
  [
    { code: 'no-room-for-accounts', pods: 1, until: 'T1' },
    'The ledger had no room for all that was told of one pod until T1: phases, calls, restarts and proofs may be missing.',
  ],
  [
    { code: 'not-finished', after: 'T1' },
    'The run is not finished. What a process has done after T1 that is at work, or was killed, is not here: sluice status shows how the pods stand.',
  ],
  [
    { code: 'newer-run-unknown', workload: 'statefulset/web', unreadable: ['r1', 'r2'] },
    'Whether a newer run of statefulset/web is on record cannot be told: these cannot be read: r1, r2',
  ],
  [{ code: 'earlier-not-kept', what: 'done', processes: 2 }, 'what 2 processes did with it before is not kept'],
  [{ code: 'earlier-not-kept', what: 'told', processes: 1 }, 'what one process told of it before is not kept'],
  [{ code: 'pod-without-account' }, 'no process has kept an account of it'],
])('$0.code', (reason, words) => {
  expect(reasonWords(reason)).toBe(words)
})
