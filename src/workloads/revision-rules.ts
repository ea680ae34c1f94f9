import type { RevisionRecord, WorkloadRecord } from './records.ts'

/** The rules of a controller for its ControllerRevisions and its pods. */
export interface RevisionRules {
  /** The number of pods that the controller should keep. */
  desired(workload: WorkloadRecord): number
  /** True if the controller replaces a pod of this name when the pod is gone. */
  replaces(workload: WorkloadRecord, podName: string): boolean
  /** The value of the label `controller-revision-hash` on the pods of a revision. */
  podLabel(revision: RevisionRecord): string | undefined
  /**
   * The revision of the template that the controller has observed, as far as is known. `certain` if the controller itself names the
   * revision; otherwise a newer one may exist that was not seen yet.
   */
  updateRevision(
    workload: WorkloadRecord,
    revisions: readonly RevisionRecord[],
  ): { revision: RevisionRecord; certain: boolean } | undefined
}
