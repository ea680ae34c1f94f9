import type { ProcessAccount } from '../journal/account.ts'
import { processEpochOf, RESOLVED } from '../journal/account.ts'
import type { PodEnding } from './pod-ending.ts'
import type { Report } from './report.ts'
import type { PodRecord, RunRecord } from './run-record.ts'
import { isOwn } from './run-record.ts'

/** A pod, and how it has ended. */
export interface EndedPod {
  record: PodRecord
  ending: PodEnding
}

/** Not of a process that upgrades, but of a person's word. */
export function isWord({ outcome }: Pick<ProcessAccount, 'outcome'>): boolean {
  return outcome === RESOLVED
}

export function runEnding(
  { processes, finishedAt, abortedBy }: RunRecord,
  pods: readonly EndedPod[],
): Pick<Report, 'outcome' | 'reason' | 'endedAt'> {
  const last = processes.findLast((one) => !isWord(one))
  // A later run may close what this one has left open.
  const closedAt = finishedAt !== undefined && (last === undefined || finishedAt > last.endedAt) ? finishedAt : undefined
  if (last === undefined) {
    if (finishedAt === undefined) return { outcome: 'open', reason: 'it is at work, or its process ended without a word' }
    const reason = abortedBy === undefined ? 'nothing of it is open any more' : `aborted by ${abortedBy}`
    return { outcome: abortedBy === undefined ? 'closed' : 'aborted', reason, endedAt: finishedAt }
  }
  const isLeftOpen = ['interrupted', 'failed', 'deadline', 'conflict', 'needsOperator', 'paused'].includes(last.outcome)
  const reason = [
    last.outcome === 'done' ? countedOverAll(last, pods) : last.reason,
    ...processes.slice(processes.indexOf(last) + 1).map((word) => `since then ${word.reason}`),
    ...(closedAt !== undefined && isLeftOpen ? [`what it had left open was closed at ${closedAt}`] : []),
  ].join('; ')
  return { outcome: last.outcome, reason, endedAt: last.endedAt }
}

/** As src/engine/outcome.ts puts it, and of an undo what it has left as it is. */
const COUNTS = /^(\d+) upgraded, (\d+) at the wanted images already(, \d+ left as .*)?$/

/** Found by trial: pods that processes before had upgraded were counted as those to which nothing was to do. */
function countedOverAll({ reason, epoch }: ProcessAccount, pods: readonly EndedPod[]): string {
  const counts = COUNTS.exec(reason)
  const before = pods.filter(({ ending }) => ending.outcome === 'upgraded' && ending.epoch !== epoch)
  const resolved = pods.filter(({ ending }) => ending.outcome === RESOLVED)
  if (counts === null || before.length + resolved.length === 0) return reason
  const isFoundDone = ({ record: { accounts } }: EndedPod): boolean => {
    const last = accounts.findLast(isOwn)
    return last?.outcome === 'skipped' && processEpochOf(last) === epoch
  }
  const upgraded = Number(counts[1]) + before.length
  const found = Number(counts[2]) - [...before, ...resolved].filter(isFoundDone).length
  const said = resolved.length === 0 ? '' : `, ${resolved.length} resolved by a person`
  return `${upgraded} upgraded, ${found} at the wanted images already${said}${counts[3] ?? ''}`
}
