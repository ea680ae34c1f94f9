import type { Command } from '../reasons/command.ts'
import type { Writer } from '../reasons/fields.ts'
import type { Reason } from '../reasons/reason.ts'

/* The output of `sluice explain`. */

/** Whether pods are in rotation, in which places, since when, and by which writer; and the reasons where they are not. */
export interface Explanation {
  about: Subject
  /** `unknown`: no finding is wrong, and a part that decides could not be read. */
  verdict: 'right' | 'wrong' | 'unknown'
  /** The Services that route to the pods. */
  services: ServiceExplanation[]
  pods: PodExplanation[]
  /** The nodes that the pods run on. */
  nodes: NodeExplanation[]
  /** The findings; those that are wrong come first. */
  findings: Finding[]
  unread: Unread[]
}

export interface Subject {
  type: 'pod' | 'service' | 'workload'
  /** The object, such as `statefulset/web`. */
  object: string
  name: string
  namespace: string
}

export interface Finding {
  /** `wrong`: an object is out of rotation, or differs from its desired state. */
  severity: 'wrong' | 'note'
  reason: Reason
  /** The pod that the finding is about, where the reason does not name it. */
  pod?: string
  service?: string
  /** The commands to run next. */
  next: Command[]
}

/** `partly`: the pod is in rotation in some places only. `nowhere`: no place routes to it. */
export type Rotation = 'in' | 'out' | 'partly' | 'nowhere' | 'unknown'

export interface PodExplanation {
  name: string
  uid: string
  address?: string
  node?: string
  rotation: Rotation
  /** Ready comes first, then its parts; PodScheduled is included where it is not True, and DisruptionTarget where it is True. */
  conditions: ConditionExplanation[]
  places: Place[]
  /** The run of sluice that works on the pod. */
  run?: RunOfPod
}

export interface ConditionExplanation {
  type: string
  /** The status; `missing` where the pod has no condition of that type. */
  status: string
  reason?: string
  message?: string
  /** The time of the last change, by the clock of the client that wrote it. */
  since?: string
  writtenBy?: Writer
}

/** A place that sends requests to a pod, or should. */
export type Place =
  | {
      in: 'slice'
      service: string
      slice: string
      addressType: string
      /** The controller of the slice, where it is not the controller of Kubernetes. */
      managedBy?: string
      ready: boolean
      serving: boolean
      terminating: boolean
      /** The time since which the slice has this state, where the pod tells it; by the clock of the client that wrote it. */
      since?: string
      writtenBy?: Writer
    }
  | { in: 'no-slice'; service: string }
  | { in: 'endpoints'; service: string; is: 'ready' | 'not-ready' | 'absent' }
  | {
      in: 'load-balancer'
      loadBalancer: string
      target: string
      admin: 'in' | 'draining' | 'out' | 'absent' | 'unknown'
      /** New requests can reach the entry. The health check of the load balancer is taken into account. */
      routable: boolean
      weight?: number
      inFlight: number | null
      /** The detail that the load balancer reports. */
      said?: string
      /** The cause of an entry that is out. `others` stands for an operator, or another tool. */
      outBy?: 'run' | 'others'
      /** The time at which the run drained the entry. The process of the run records it at its end. */
      since?: string
      /** The reason why the entry could not be read. */
      by?: Reason
    }
  | { in: 'no-entry'; loadBalancer: string; because: Reason }

export interface RunOfPod {
  run: string
  /** The step that the journal of the pod has reached. */
  step: string
  /** The workload, such as `statefulset/web`; absent where the records could not be read. */
  workload?: string
  /** The process that holds the Lease. */
  holder?: string
  /** The time at which the run began. */
  startedAt?: string
  out: boolean | null
  because: Reason
  needsOperator: boolean
}

export interface ServiceExplanation {
  name: string
  /** The selector; empty where other writers make the endpoints. */
  selector: Readonly<Record<string, string>>
  slices: SliceExplanation[]
  /** Absent where there are no Endpoints, or they could not be read. */
  endpoints?: { ready: number; notReady: number; writtenBy?: Writer }
}

export interface SliceExplanation {
  name: string
  addressType: string
  managedBy?: string
  ready: number
  notReady: number
  /** The client that last changed the endpoints. */
  writtenBy?: Writer
}

export interface NodeExplanation {
  name: string
  /** The condition Ready. */
  ready: ConditionExplanation
  /** The Lease of the node in kube-node-lease; absent where there is none, or it could not be read. */
  heartbeat?: {
    /** The time of the last renewal, by the clock of the node. */
    renewedAt?: string
    /** The result of watching the Lease for `watchedMs`, by the clock of this process; absent where there was no cause to watch. */
    seen?: 'renewed' | 'silent'
    watchedMs?: number
  }
}

/** A part that could not be read. The explanation has the rest. */
export interface Unread {
  what: 'pods' | 'services' | 'endpointslices' | 'endpoints' | 'nodes' | 'leases' | 'records' | 'workload' | 'load-balancer'
  /** The name of the load balancer, or of the run whose record it is. */
  name?: string
  /** Without this part, the verdict cannot be `right`. */
  decides: boolean
  because: Reason
}
