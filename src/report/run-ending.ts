import type { Reason } from '../reasons/reason.ts'
import { several } from '../reasons/several.ts'
import type { ProcessAccount } from '../journal/account.ts'
import { processEpochOf, RESOLVED } from '../journal/account.ts'
import type { PodEnding } from './pod-ending.ts'
import type { Report } from './report.ts'
import type { PodRecord, RunRecord } from './run-record.ts'
import { isOwn } from './run-record.ts'

/** A pod with its end. */
export interface EndedPod {
  record: PodRecord
  ending: PodEnding
}

/** True for the statement of a person (`sluice resolve`), which is recorded like a process. */
export function isWord({ outcome }: Pick<ProcessAccount, 'outcome'>): boolean {
  return outcome === RESOLVED
}

export function runEnding(
  { processes, finishedAt, abortedBy }: RunRecord,
  pods: readonly EndedPod[],
): Pick<Report, 'outcome' | 'reason' | 'endedAt'> {
  const last = processes.findLast((one) => !isWord(one))
  // A later run may close the open work of this run.
  const closedAt = finishedAt !== undefined && (last === undefined || finishedAt > last.endedAt) ? finishedAt : undefined
  if (last === undefined) {
    if (finishedAt === undefined) return { outcome: 'open', reason: { code: 'at-work-or-silent' } }
    const reason: Reason = abortedBy === undefined ? { code: 'nothing-open-any-more' } : { code: 'aborted-by', by: abortedBy }
    return { outcome: abortedBy === undefined ? 'closed' : 'aborted', reason, endedAt: finishedAt }
  }
  const isLeftOpen = ['interrupted', 'failed', 'deadline', 'conflict', 'needsOperator', 'paused'].includes(last.outcome)
  const reason = several(
    last.outcome === 'done' ? countedOverAll(last, pods) : last.reason,
    ...processes.slice(processes.indexOf(last) + 1).map((said): Reason => ({ code: 'since-then', reason: said.reason })),
    ...(closedAt !== undefined && isLeftOpen ? [{ code: 'left-open-closed-at', at: closedAt } as const] : []),
  )
  return { outcome: last.outcome, reason, endedAt: last.endedAt }
}

/** Corrects the counts of the last process: pods that earlier processes had upgraded count as upgraded, not as done already. */
function countedOverAll({ reason, epoch }: ProcessAccount, pods: readonly EndedPod[]): Reason {
  const [counts, ...rest] = reason.code === 'several' ? reason.reasons : [reason]
  const before = pods.filter(({ ending }) => ending.outcome === 'upgraded' && ending.epoch !== epoch)
  const resolved = pods.filter(({ ending }) => ending.outcome === RESOLVED)
  if (counts?.code !== 'counts' || before.length + resolved.length === 0) return reason
  const isFoundDone = ({ record: { accounts } }: EndedPod): boolean => {
    const last = accounts.findLast(isOwn)
    return last?.outcome === 'skipped' && processEpochOf(last) === epoch
  }
  const already = counts.already - [...before, ...resolved].filter(isFoundDone).length
  const said = resolved.length === 0 ? {} : { resolved: resolved.length }
  return several({ ...counts, upgraded: counts.upgraded + before.length, already, ...said }, ...rest)
}
