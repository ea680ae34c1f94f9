import type { ContainerImage } from '../../pods/glossary.ts'
import type { Advice } from '../../reasons/advice.ts'
import type { Reason } from '../../reasons/reason.ts'
import type { JournalStep } from '../../pods/glossary.ts'
import type { WorkloadRef } from '../../plan/plan.ts'

/* What sluice has left in the cluster, as `sluice status` tells it. */

/** Who owns a workload's upgrades. */
export interface LeaseStatus {
  /** Absent where nobody holds it. */
  holder?: string
  epoch: number
  /** A renewal was seen, or the Lease ran out; absent where neither was waited for. */
  live?: boolean
  /** What somebody has ordered of a run that is open. */
  order?: { order: 'pause' | 'abort'; by: string }
}

/** One run, from its ledger. */
export interface RunStatus {
  id: string
  /** What was asked for; empty where the pods were brought to the template of their workload. */
  images: ContainerImage[]
  /** The run that it takes back. */
  undoes?: string
  /** ISO 8601. */
  startedAt: string
  /** All its pods are closed. */
  finished: boolean
  /** Who has ended it before all its pods were upgraded. */
  abortedBy?: string
  /** What the order on the Lease says of it; one that was given before it began says nothing. */
  ordered?: 'pause' | 'abort'
}

/** One pod with a journal, or a pod that is gone and whose targets are not settled. */
export interface PodStatus {
  uid: string
  name: string
  /** Where its journal stands. */
  state: JournalStep
  run: string
  /** How often it has been drained; null where the pod is gone, and its journal with it, or cannot be read. */
  attempt: number | null
  /** Out of rotation by the journal; null where that cannot be told without asking the load balancer: also of a closed one, which others may have out. */
  out: boolean | null
  reasons: Reason[]
  /** Present where no run can go on by itself. */
  needsOperator?: NeedsOperator
}

/** What a person has to know and to do: the reason, or advice where there is some. */
export interface NeedsOperator {
  reason?: Reason
  advice: Advice[]
}

/** What sluice has left in the cluster for one workload. */
export interface StatusReport {
  workload: WorkloadRef
  /** Absent where no run has ever owned it. */
  lease?: LeaseStatus
  /** The newest first. */
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
  /** Runs whose ledger cannot be read: nobody can tell of which workload, and what they have left open for pods that are gone. */
  unreadable: UnreadableRun[]
}
