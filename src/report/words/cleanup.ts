import type { CleanupNeed, CleanupReasons } from '../../reasons/cleanup-reasons.ts'
import { agreeing, type WordsOf } from './writing.ts'

function need(by: CleanupNeed): string {
  switch (by.need) {
    case 'journal':
      return 'the open journal of a pod names it'
    case 'undo':
      return `run ${by.run}, which is not finished, takes it back`
    case 'settled':
      return `it has settled pods of run ${by.run}, which is not finished`
    case 'shared':
      return `it has gone on with part of run ${by.run}, which is not finished`
    case 'workloads':
      return `it is of ${by.workloads.join(', ')} too`
  }
}

const UNDO = { never: '', 'not-then': '; it can then not be undone', 'no-more': '; it cannot be undone any more' }

/** The words for removing or keeping a record. */
export const cleanup: WordsOf<CleanupReasons> = {
  'record-unreadable': ({ problem }, write) => `it cannot be read: ${write.reason(problem)}`,
  'workload-gone-for-good': ({ run, workloads }) =>
    `nothing of run ${run} is open, and ${workloads.join(', ')} ${agreeing(workloads, 'is', 'are')} gone`,
  'run-not-finished': ({ run }) => `run ${run} is not finished: the same command goes on with it, and sluice abort ends it`,
  'run-at-work': ({ run, holder, lease }) =>
    `run ${run} is not finished, and ${holder || 'somebody'} is at work (${lease}), maybe on one of its pods: try again once that is over`,
  'run-has-open-pods': ({ run, pods }) => `run ${run} is not finished: ${pods} ${pods === 1 ? 'pod' : 'pods'} may be open`,
  'run-needed': ({ run, finished, by }) =>
    finished
      ? `run ${run} is finished, and needed still: ${need(by)}`
      : `run ${run} is not finished, and needed still: ${need(by)}`,
  'run-finished': ({ run, at, undo }) => `run ${run} finished at ${at}${UNDO[undo]}`,
  'part-without-ledger': ({ mayBegin }) =>
    mayBegin ? 'a part without its ledger, which a run may be about to write' : 'a part of a ledger that was never begun',
  'written-meanwhile': () => 'somebody has written to it meanwhile',
}
