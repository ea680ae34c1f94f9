import type { ContainerImage } from '../../pods/glossary.ts'
import type { Advice } from '../../reasons/advice.ts'
import type { Reason } from '../../reasons/reason.ts'
import type { JournalStep } from '../../pods/glossary.ts'
import type { WorkloadRef } from '../../plan/plan.ts'

/* The records that sluice has left in the cluster, as `sluice status` tells them. */

/** The owner of a workload's upgrades. */
export interface LeaseStatus {
  /** Absent where the Lease has no holder. */
  holder?: string
  epoch: number
  /** The order for an open run. */
  order?: { order: 'pause' | 'abort'; by: string }
}

/** One run, from its ledger. */
export interface RunStatus {
  id: string
  /** The requested images. Empty where the pods were brought to the template of their workload. */
  images: ContainerImage[]
  /** The run that this one takes back. */
  undoes?: string
  /** ISO 8601. */
  startedAt: string
  /** Whether all pods of the run are closed. */
  finished: boolean
  /** The origin of the abort that ended the run. */
  abortedBy?: string
  /** The order on the Lease for this run. An order that was given before the run began does not count. */
  ordered?: 'pause' | 'abort'
}

/** One pod with a journal, or a gone pod whose targets are not settled. */
export interface PodStatus {
  uid: string
  name: string
  /** The step of the pod's journal. */
  state: JournalStep
  run: string
  /** The number of the pod's drains. Null where the journal cannot be read, or is gone with the pod. */
  attempt: number | null
  /**
   * Whether the pod is out of rotation by its journal. Null where only the load balancer knows: after a closed journal, another writer may
   * have taken the pod out.
   */
  out: boolean | null
  reasons: Reason[]
  /** Present where no run can go on by itself. */
  needsOperator?: NeedsOperator
}

/** The information for the operator: the reason, or advice where there is some. */
export interface NeedsOperator {
  reason?: Reason
  advice: Advice[]
}

/** The records that sluice has left in the cluster for one workload. */
export interface StatusReport {
  workload: WorkloadRef
  /** Absent where no run has ever owned the workload. */
  lease?: LeaseStatus
  /** The runs, the newest first. */
  runs: RunStatus[]
  pods: PodStatus[]
}

export interface UnreadableRun {
  run: string
  problem: Reason
  needsOperator: NeedsOperator
}

export interface Status {
  workloads: StatusReport[]
  /** The runs whose ledger cannot be read. Their workloads are unknown, and so are their open entries of gone pods. */
  unreadable: UnreadableRun[]
}
