import type { Reason, ReasonOf } from '../reasons/reason.ts'
import type { RefusalCode } from '../reasons/refusals.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import type { WorkloadId } from '../pods/workload-id.ts'

export interface WorkloadRef extends WorkloadId {
  namespace: string
}

/**
 * - `upgrade`: the run drains the pod, patches it and restores it; it only patches where no container that changes needs a drain
 * - `adopt`: an earlier run left the pod drained or half done; the run continues from that step, without a second drain
 * - `skip`: the pod runs the wanted images already, is terminating, or is not among the pods that an undo takes back
 * - `refuse`: the pod cannot be upgraded, and the whole run is refused for it
 */
export type PodAction = 'upgrade' | 'adopt' | 'skip' | 'refuse'

export interface PlannedTarget {
  loadBalancer: string
  /** The id of the target. */
  target: string
  /** False where an operator has taken the target out of rotation. */
  inRotation: boolean
}

export interface PodPlan {
  uid: string
  name: string
  /** The name of the Node. Absent for a pod that is not scheduled. */
  node?: string
  action: PodAction
  reason: Reason
  /** The containers that change, each with its present and its wanted image. */
  images: { container: string; from: string; to: string }[]
  targets: PlannedTarget[]
  /** The reason why a skipped pod gets no requests. Such a pod counts against the window. */
  unserved?: Reason
}

/** The reason why a run cannot start. Nothing has been changed. */
export type Refusal = ReasonOf<RefusalCode>

export interface PlanTemplate {
  workload: WorkloadRef
  /** The images that change in the template. The run patches the template first, so that a rescheduled pod starts with the new images. */
  change: { container: string; from: string; to: string }[]
}

export interface PlanGuarantee {
  loadBalancer: string
  adapter: string
  level: 'G0' | 'G1' | 'G2' | 'G3'
  /**
   * The work on a pod that the load balancer counts: all open work, requests alone, or nothing. Without a count, the run waits for the
   * settle time.
   */
  inFlight: 'exact' | 'requests-only' | 'none'
  /** True where each change of this load balancer cuts connections of other pods too. */
  disruptsOthers: boolean
  /** The Lease that sluice holds during each change of the load balancer. */
  lock?: { namespace: string; lease: string }
}

/** The nodes that have a new image before the first drain, by name. Whether the other nodes can pull the image is not known. */
export interface ImageOnNodes {
  image: string
  present: string[]
  absent: string[]
  /** Nodes that cannot be read, or that report too few of their images. */
  unknown: string[]
}

/** A deadline of the config that is shorter than the proof that a run may have to wait for. */
export interface RaisedDeadline {
  /** The field of the config: `deadlines.restart`, or `deadlines.rollback` for an undo. */
  deadline: 'restart' | 'rollback'
  configuredMs: number
  /** The longest wait instead, counted from the start of a container whose restart only elapsed time can prove. */
  raisedMs: number
  /** The pods whose kubelets do not report a generation. */
  pods: string[]
}

/** The actions of a run, each with its reason. A plan depends only on the request and on the observed state. */
export interface Plan {
  namespace: string
  workloads: WorkloadRef[]
  images: ContainerImage[]
  templates: PlanTemplate[]
  /** The pods, in the order in which the run starts them. */
  pods: PodPlan[]
  /**
   * Targets that an earlier run may have left out of rotation for pods that no longer exist. The run settles them first. Where the plan
   * upgrades pods, sluice looks for such targets only if they affect the plan.
   */
  leftOut?: { loadBalancer: string; target: string }[]
  /** The run that an undo takes back, and the images that this run had asked for. */
  undoes?: { run: string; images: ContainerImage[] }
  /** The number of pods that may be out of rotation at once. */
  window: number
  guarantees: PlanGuarantee[]
  /**
   * The names of load balancers, grouped into turns. A pod is drained in all load balancers of one turn at once, and in the next turn
   * once these have confirmed; it is put back in reverse. Absent where all load balancers drain at once.
   */
  drainOrder?: string[][]
  /** Only `sluice plan` and dry runs set this field. */
  imagesOnNodes?: ImageOnNodes[]
  /** Absent where no deadline is too short. */
  raisedDeadlines?: RaisedDeadline[]
  warnings: Reason[]
  refusals: Refusal[]
}
