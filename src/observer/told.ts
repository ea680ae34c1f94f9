import type { PodEndpointReason } from '../endpoints/reasons.ts'
import type { Writer } from '../reasons/fields.ts'
import type { Reason } from '../reasons/reason.ts'
import type { CONTROL_PLANE_PARTS, EndpointObjectKind, ReadKind } from './events.ts'

/* The output of an observation: changes with their lags, findings, and the summary. */

/**
 * `pod-endpointslice` and `pod-endpoints` lead from a change of a pod to the change of its address. `endpointslice-load-balancer` leads
 * from there to an entry; `endpointslice-endpointslice` and `endpointslice-endpoints` lead from there to a copy by another program, perhaps
 * in another cluster.
 */
export type Leg = (typeof LEGS)[number]
export const LEGS = [
  'pod-endpointslice',
  'pod-endpoints',
  'endpointslice-load-balancer',
  'endpointslice-endpointslice',
  'endpointslice-endpoints',
] as const

/** One change. `at` is the instant at which the change was seen, in milliseconds since 1970. */
export type Change =
  | PodChange
  | EndpointChange
  | EntryChange
  | { type: 'node'; at: number; cluster: string; node: string; ready: string }
  | {
      type: 'service'
      at: number
      cluster: string
      namespace: string
      service: string
      change: 'added' | 'selector-changed' | 'gone'
    }

export interface PodChange {
  type: 'pod'
  at: number
  cluster: string
  namespace: string
  pod: string
  change: 'added' | 'ready' | 'not-ready' | 'terminating' | 'address' | 'gone'
  /** Why the pod is not ready. Present with `not-ready`. */
  because?: PodEndpointReason
  /** `lastTransitionTime` of condition Ready, by the clock of its writer, in whole seconds. */
  conditionAt?: string
  /** The new addresses of the pod. Present with `address`. */
  addresses?: string[]
}

export interface EndpointChange {
  type: 'endpoint'
  at: number
  cluster: string
  namespace: string
  service: string
  object: EndpointObjectKind
  name: string
  address: string
  pod?: string
  change: 'ready' | 'not-ready' | 'gone'
  /** The annotation `endpoints.kubernetes.io/last-change-trigger-time` of the object. */
  triggerAt?: string
  /** The time since the change of the pod was seen. Absent where no such change was seen. */
  lagMs?: number
  /** The lags of a copy that another program keeps: the time since the EndpointSlices of each Service made that change. */
  lags?: ({ lagMs: number } & OfService)[]
}

export interface EntryChange {
  type: 'entry'
  at: number
  loadBalancer: string
  entry: string
  address: string
  /** `unhealthy` stands for an entry that is in rotation and gets no requests, since its health checks fail. */
  change: 'in' | 'unhealthy' | 'draining' | 'out' | 'unknown' | 'gone'
  /** The namespace of the pod that has the address. Absent, with `pod`, where no pod has it. */
  namespace?: string
  pod?: string
  /** The lags of the entry: the time since the EndpointSlices of each Service made the change that the entry has followed. */
  lags: ({ lagMs: number } & OfService)[]
}

export interface OfService {
  cluster: string
  namespace: string
  service: string
}

/** The fields of each finding, by its code. */
export interface ObserverFindingFields {
  'cluster-unreachable': { cluster: string; because: Reason }
  /** No finding is made that needs objects of this kind. */
  'objects-unread': { cluster: string; what: Exclude<ReadKind, 'nodes'>; because: Reason }
  'load-balancer-unread': { loadBalancer: string; because: Reason }
  'stale-address': OfService & {
    object: EndpointObjectKind
    name: string
    address: string
    /** The name of the pod, where that is known. */
    pod?: string
    /** The cluster of the pod, where that is another cluster. */
    podCluster?: string
    why: 'pod-gone' | 'pod-has-another-address' | 'pod-finished'
    /** The time for which the address has been stale. */
    sinceMs: number
  }
  /** A sweep is told when it begins, and again when it is over (`isOver`), or when the observation ends before that. */
  sweep: {
    cluster: string
    object: EndpointObjectKind
    /** The number of writes that changed no address, no port and no hint. */
    writes: number
    /** The number of objects that were written. */
    objects: number
    startedAt: number
    lastAt: number
    isOver: boolean
    /** The client of the last write. */
    by?: Writer
  }
  /** A backlog is told when it begins, and again when it is over (`isOver`), or when the observation ends before that. */
  backlog: {
    cluster: string
    object: EndpointObjectKind
    /** The number of Services that wait for their endpoints; with `isOver` the highest number. */
    services: number
    /** The time that the first of these Services has waited; with `isOver` the longest time. */
    oldestMs: number
    /** The last lag that was measured, or 0 without one. */
    lagMs: number
    /** The rate at which changes were followed of late, per second. */
    perSecond: number
    /** The time until the queue is empty at that rate. Absent at a rate of 0, and with `isOver`. */
    drainMs?: number
    /** The number of Services in the queue, as the metrics of the controller manager have it. */
    workqueueDepth?: number
    /** The rate of PUT requests of the controller manager, per second, as its metrics have it. */
    putsPerSecond?: number
    isOver: boolean
  }
  'writers-undo-each-other': OfService & {
    object: EndpointObjectKind
    name: string
    writers: [Writer, Writer]
    writes: number
    spanMs: number
  }
  'endpoints-by-hand': OfService & { by: Writer; addresses: string[] }
  /** `ready` is the status of condition Ready of the node, and is absent where nodes may not be read. */
  'pods-lost-with-heartbeat': { cluster: string; node: string; ready?: string; pods: string[]; spanMs: number }
  'endpoints-truncated': OfService & { addresses: number }
  'pod-flaps': { cluster: string; namespace: string; pod: string; times: number; spanMs: number }
  /** The containers of `pods` were restarted within `spanMs`, while the pods got requests. Further pods may follow. */
  'restarted-in-rotation': OfService & { pods: string[]; spanMs: number }
  /** The entry has left rotation `stayedMs` after it came back. `namespace` and `pod` name the pod that has the address. */
  'entry-flaps': { loadBalancer: string; entry: string; address: string; namespace?: string; pod?: string; stayedMs: number }
  /** `formerPod` is the pod that had the address, where the pod was seen to leave it. */
  'entry-follows-nothing': { loadBalancer: string; entry: string; address: string; formerPod?: string; sinceMs: number }
}

/** The codes are a closed set. docs/observe.md explains each. */
export type ObserverFindingCode = keyof ObserverFindingFields

export type ObserverFindingOf<Code extends ObserverFindingCode> = {
  [C in Code]: { readonly code: C } & Readonly<ObserverFindingFields[C]>
}[Code]
export type ObserverFinding = ObserverFindingOf<ObserverFindingCode>

export type Told = Change | { type: 'finding'; at: number; finding: ObserverFinding }

export const OBSERVER_FINDING_CODES = [
  'cluster-unreachable',
  'objects-unread',
  'load-balancer-unread',
  'stale-address',
  'sweep',
  'backlog',
  'writers-undo-each-other',
  'endpoints-by-hand',
  'pods-lost-with-heartbeat',
  'endpoints-truncated',
  'pod-flaps',
  'restarted-in-rotation',
  'entry-flaps',
  'entry-follows-nothing',
] as const satisfies readonly ObserverFindingCode[]

/**
 * A Lease was renewed. `gapMs` is the time since the renewal before, by the clock of the kubelet. `part-unknown` stands for a Lease that is
 * gone or cannot be read. No finding is made of these changes.
 */
export type LeaseChange = { at: number; cluster: string } & (
  | { type: 'node-renewed'; node: string; gapMs: number }
  | { type: 'part-renewed' | 'part-unknown'; part: (typeof CONTROL_PLANE_PARTS)[number] }
)

/** The state of an observation at one instant. */
export interface ObserverSnapshot {
  at: number
  /** `listing` stands for a cluster whose first lists are not complete. */
  clusters: { name: string; is: 'listing' | 'observed' | 'unreachable' }[]
  /** The load balancers that were asked at least once. */
  loadBalancers: { name: string; isRead: boolean; entries: Record<EntryChange['change'], number> }[]
  /** The findings that hold, in the order in which they began. A finding about a moment holds for the time that its rule looks back. */
  findings: { finding: ObserverFinding; beganAt: number }[]
  /** The number of Services that wait for their endpoints, and the time that the first of them has waited. */
  backlogs: { cluster: string; object: EndpointObjectKind; services: number; oldestMs: number }[]
}

/** The lags of one leg of one Service, in milliseconds. Percentiles are exact to 5 %. */
export interface LegSummary {
  cluster: string
  namespace: string
  service: string
  leg: Leg
  /** The load balancer of `endpointslice-load-balancer`; absent for the other legs. */
  loadBalancer?: string
  /** The cluster of the EndpointSlice, on a leg to a copy; absent for the other legs. `service` is then the Service of the copy. */
  from?: string
  changes: number
  p50Ms: number
  p90Ms: number
  p99Ms: number
  maxMs: number
}

export interface ObserverSummary {
  startedAt: number
  at: number
  legs: LegSummary[]
  findings: { code: ObserverFindingCode; times: number }[]
}
