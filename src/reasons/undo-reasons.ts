import type { RecordProblem } from './record-reasons.ts'

/** Why a run cannot be undone. */
export interface UndoReasons {
  'run-unreadable': { run: string; problem: RecordProblem }
  /** These cannot be read, so that the newest run is not known. */
  'newest-run-unknown': { workloads: string[]; unreadable: string[] }
  /** An older sluice has recorded the run, and did not keep the images before it. */
  'no-images-before': { run: string }
  /** `recorded`: runs are on record, and have changed nothing. */
  'nothing-to-undo': { workloads: string[]; recorded: boolean }
  /** `known`: the newest first. */
  'no-such-run': { run: string; workloads: string[]; known: string[] }
  /** Pods go back together with the workload that they are of. */
  'undo-the-workload': { pod: string; workloads: string[] }
}
