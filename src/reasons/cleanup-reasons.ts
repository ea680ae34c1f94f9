import type { NoFields } from './fields.ts'
import type { RecordProblem } from './record-reasons.ts'

/** The reasons to remove or keep a record. */
export interface CleanupReasons {
  'record-unreadable': { problem: RecordProblem }
  /** Nothing of the run is open, and its workloads are gone. */
  'workload-gone-for-good': { run: string; workloads: string[] }
  'run-not-finished': { run: string }
  'run-at-work': { run: string; holder: string; lease: string }
  'run-has-open-pods': { run: string; pods: number }
  'run-needed': { run: string; finished: boolean; by: CleanupNeed }
  /** `undo`: whether the run can be undone until its record is removed. */
  'run-finished': { run: string; at: string; undo: 'never' | 'not-then' | 'no-more' }
  'part-without-ledger': { mayBegin: boolean }
  'written-meanwhile': NoFields
}

/** The uses of the record of a run that is over, or seems to be over. */
export type CleanupNeed =
  | { need: 'journal' }
  | { need: 'undo' | 'settled' | 'shared'; run: string }
  | { need: 'workloads'; workloads: string[] }
