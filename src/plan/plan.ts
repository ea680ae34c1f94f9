import type { Reason, ReasonOf } from '../reasons/reason.ts'
import type { RefusalCode } from '../reasons/refusals.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import type { WorkloadId } from '../pods/workload-id.ts'

export interface WorkloadRef extends WorkloadId {
  namespace: string
}

/**
 * - `upgrade`: drain, patch, restore; or the patch alone, where each container that changes needs no drain
 * - `adopt`: an earlier run left it drained or half done: go on from there, without a second drain
 * - `skip`: runs the wanted images already, or is none that an undo takes back, and nothing is open
 * - `refuse`: cannot be upgraded; the whole run is refused for it
 */
export type PodAction = 'upgrade' | 'adopt' | 'skip' | 'refuse'

export interface PlannedTarget {
  loadBalancer: string
  /** Target id. */
  target: string
  /** False where an operator has it out of rotation. */
  inRotation: boolean
}

export interface PodPlan {
  uid: string
  name: string
  /** Absent while it has none. */
  node?: string
  action: PodAction
  reason: Reason
  /** Present to wanted, for the containers that change. */
  images: { container: string; from: string; to: string }[]
  targets: PlannedTarget[]
  /** Of one that is left as it is: why it takes no requests. It counts against the window. */
  unserved?: Reason
}

/** Why the run cannot start. Nothing was touched. */
export type Refusal = ReasonOf<RefusalCode>

export interface PlanTemplate {
  workload: WorkloadRef
  /** The template is patched first, so that a rescheduled pod comes back on the new images. */
  change: { container: string; from: string; to: string }[]
}

export interface PlanGuarantee {
  loadBalancer: string
  adapter: string
  level: 'G0' | 'G1' | 'G2' | 'G3'
  /** What it counts of what is under way on a pod: all that is open, requests alone, or nothing, so that the settle time is waited out. */
  inFlight: 'exact' | 'requests-only' | 'none'
  /** Each change of it cuts connections of other pods too. */
  disruptsOthers: boolean
  /** The Lease that each change of it is made under. */
  lock?: { namespace: string; lease: string }
}

/** Where an image that is patched in is before the first drain, by names of nodes. Whether it can be pulled elsewhere is not known. */
export interface ImageOnNodes {
  image: string
  present: string[]
  absent: string[]
  /** The node cannot be read, or reports too few of its images. */
  unknown: string[]
}

/** A deadline of the config that is shorter than the proof which it may have to wait for. */
export interface RaisedDeadline {
  /** In the config: `deadlines.restart`, or `deadlines.rollback` of an undo. */
  deadline: 'restart' | 'rollback'
  configuredMs: number
  /** How long it may be instead, from the start of a container that nothing but time proves. */
  raisedMs: number
  /** Pods whose kubelets report no generation. */
  pods: string[]
}

/** What a run would do, and why; made from the request and the observed world alone. */
export interface Plan {
  namespace: string
  workloads: WorkloadRef[]
  images: ContainerImage[]
  templates: PlanTemplate[]
  /** In the order in which they will start. */
  pods: PodPlan[]
  /**
   * What an earlier run may have left out of rotation for pods that are gone: a run settles it first. Where pods are to be
   * upgraded it is looked for only if it decides something.
   */
  leftOut?: { loadBalancer: string; target: string }[]
  /** The run that an undo takes back, and what that had asked for. */
  undoes?: { run: string; images: ContainerImage[] }
  /** Pods that may be out of rotation at once. */
  window: number
  guarantees: PlanGuarantee[]
  /**
   * Names of load balancers: a pod is drained in all of one list at once, and in the next list once these have confirmed; it is put back
   * in reverse. Absent where it is drained in all of them at once.
   */
  drainOrder?: string[][]
  /** Of `sluice plan` and dry runs alone. */
  imagesOnNodes?: ImageOnNodes[]
  /** Absent where none is. */
  raisedDeadlines?: RaisedDeadline[]
  warnings: Reason[]
  refusals: Refusal[]
}
