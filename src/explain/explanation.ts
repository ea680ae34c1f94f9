import type { Command } from '../reasons/command.ts'
import type { Writer } from '../reasons/fields.ts'
import type { Reason } from '../reasons/reason.ts'

/* What `sluice explain` tells. */

/** Whether pods are in rotation, where, since when, by whom; and if not, why. */
export interface Explanation {
  about: Subject
  /** `unknown`: nothing was found wrong, and a part that decides could not be read. */
  verdict: 'right' | 'wrong' | 'unknown'
  /** Those that route to the pods. */
  services: ServiceExplanation[]
  pods: PodExplanation[]
  /** Those that the pods run on. */
  nodes: NodeExplanation[]
  /** What is wrong comes first. */
  findings: Finding[]
  unread: Unread[]
}

export interface Subject {
  type: 'pod' | 'service' | 'workload'
  /** Such as `statefulset/web`. */
  object: string
  name: string
  namespace: string
}

export interface Finding {
  /** `wrong`: something is out of rotation, or differs from what it should be. */
  severity: 'wrong' | 'note'
  reason: Reason
  /** What it is about, where the reason does not say. */
  pod?: string
  service?: string
  /** What to run next. */
  next: Command[]
}

/** `partly`: in some places and not in others; `nowhere`: nothing routes to it. */
export type Rotation = 'in' | 'out' | 'partly' | 'nowhere' | 'unknown'

export interface PodExplanation {
  name: string
  uid: string
  address?: string
  node?: string
  rotation: Rotation
  /** Ready first, and its parts; PodScheduled where it is not True, and DisruptionTarget where it is. */
  conditions: ConditionExplanation[]
  places: Place[]
  /** The run of sluice that has it. */
  run?: RunOfPod
}

export interface ConditionExplanation {
  type: string
  /** `missing` where the pod has none of that type. */
  status: string
  reason?: string
  message?: string
  /** By the clock of the client that wrote it. */
  since?: string
  writtenBy?: Writer
}

/** Where a pod gets requests from, or should. */
export type Place =
  | {
      in: 'slice'
      service: string
      slice: string
      addressType: string
      /** Another controller than that of Kubernetes. */
      managedBy?: string
      ready: boolean
      serving: boolean
      terminating: boolean
      /** Since it has been so, where the pod tells: by the clock of the client that wrote that. */
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
      /** New requests can reach it: the load balancer's own health check has a say in that. */
      routable: boolean
      weight?: number
      inFlight: number | null
      /** In the words of the load balancer. */
      said?: string
      /** Of one that is out. `others`: an operator, or another tool. */
      outBy?: 'run' | 'others'
      /** When the run has drained it; told by its process, at the end of that. */
      since?: string
      /** Why it could not be read. */
      by?: Reason
    }
  | { in: 'no-entry'; loadBalancer: string; because: Reason }

export interface RunOfPod {
  run: string
  /** Where the journal of the pod stands. */
  step: string
  /** Such as `statefulset/web`; absent where the records could not be read. */
  workload?: string
  /** The process that has the Lease. */
  holder?: string
  /** When the run began. */
  startedAt?: string
  out: boolean | null
  because: Reason
  needsOperator: boolean
}

export interface ServiceExplanation {
  name: string
  /** Empty where other writers make its endpoints. */
  selector: Readonly<Record<string, string>>
  slices: SliceExplanation[]
  /** Absent where there is no such object, or it could not be read. */
  endpoints?: { ready: number; notReady: number; writtenBy?: Writer }
}

export interface SliceExplanation {
  name: string
  addressType: string
  managedBy?: string
  ready: number
  notReady: number
  /** Whoever has last changed its endpoints. */
  writtenBy?: Writer
}

export interface NodeExplanation {
  name: string
  /** Condition Ready. */
  ready: ConditionExplanation
  /** Its Lease in kube-node-lease; absent where there is none, or it could not be read. */
  heartbeat?: {
    /** By the clock of the node. */
    renewedAt?: string
    /** As seen in `watchedMs`, by the clock of this process; absent where nothing gave cause to watch. */
    seen?: 'renewed' | 'silent'
    watchedMs?: number
  }
}

/** What could not be read; the rest is told. */
export interface Unread {
  what: 'pods' | 'services' | 'endpointslices' | 'endpoints' | 'nodes' | 'leases' | 'records' | 'workload' | 'load-balancer'
  /** Of the load balancer; of a run, whose record it is. */
  name?: string
  /** Without it nobody can tell that all is as it should be. */
  decides: boolean
  because: Reason
}
