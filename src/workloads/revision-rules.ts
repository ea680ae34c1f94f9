import type { RevisionRecord, WorkloadRecord } from './records.ts'

/** What a controller does with its ControllerRevisions, and which pods it keeps. */
export interface RevisionRules {
  /** How many pods its controller is to keep. */
  desired(workload: WorkloadRecord): number
  /** The controller makes another pod where one of this name is gone. */
  replaces(workload: WorkloadRecord, podName: string): boolean
  /** The value of the label `controller-revision-hash` on the pods of a revision. */
  podLabel(revision: RevisionRecord): string | undefined
  /**
   * The revision that stands for the template which the controller has observed, as far as is known here.
   * `certain` where the controller itself names it: then it cannot be another one that was not seen yet.
   */
  updateRevision(
    workload: WorkloadRecord,
    revisions: readonly RevisionRecord[],
  ): { revision: RevisionRecord; certain: boolean } | undefined
}
