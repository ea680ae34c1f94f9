import type { RecordProblem } from './record-reasons.ts'

/** The reasons why a run cannot be undone. */
export interface UndoReasons {
  'run-unreadable': { run: string; problem: RecordProblem }
  /** These records are not readable, so the newest run is not known. */
  'newest-run-unknown': { workloads: string[]; unreadable: string[] }
  /** An older sluice has recorded the run without the images before it. */
  'no-images-before': { run: string }
  /** `recorded`: there are runs on record, but they changed nothing. */
  'nothing-to-undo': { workloads: string[]; recorded: boolean }
  /** `known`: the recorded runs, the newest first. */
  'no-such-run': { run: string; workloads: string[]; known: string[] }
  /** A pod cannot be undone alone; undo its workload. */
  'undo-the-workload': { pod: string; workloads: string[] }
}
