import type { KubeClient } from '../kube/client.ts'
import type { JournalStep } from '../pods/glossary.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import type { Clock } from '../ports/clock.ts'

export interface StatusRequest {
  namespace: string
  /** Empty: every workload in the namespace that has a record of sluice. */
  refs: Pick<WorkloadRef, 'kind' | 'name'>[]
}

export interface StatusPorts {
  client: KubeClient
  clock: Clock
}

/** Who owns a workload's upgrades. */
export interface LeaseStatus {
  /** Absent where nobody holds it. */
  holder?: string
  epoch: number
  /** A renewal was seen, or the Lease ran out; absent where neither was waited for. */
  live?: boolean
}

/** One run, from its ledger. */
export interface RunStatus {
  id: string
  /** The request in words, such as `app=registry/app:v2`. */
  request: string
  /** ISO 8601. */
  startedAt: string
  /** All its pods are closed. */
  finished: boolean
}

/** One pod with a journal, or a pod that is gone and whose targets are not settled. */
export interface PodStatus {
  uid: string
  name: string
  /** Where its journal stands. */
  state: JournalStep
  run: string
  attempt: number
  /** Out of rotation by the journal; null where that cannot be told without asking the load balancer. */
  out: boolean | null
  /** For a person. */
  detail: string
  /** Present where no run can go on by itself: what to look at. */
  needsOperator?: string
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

/** Reads the records; writes nothing, and asks no load balancer. */
export async function readStatus(_request: StatusRequest, _ports: StatusPorts): Promise<StatusReport[]> {
  throw new Error('not yet')
}
