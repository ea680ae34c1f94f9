import type { PodEndpointReason } from '../endpoints/reasons.ts'
import type { Writer } from '../reasons/fields.ts'
import type { Reason } from '../reasons/reason.ts'
import type { CONTROL_PLANE_PARTS, EndpointObjectKind, ReadKind } from './events.ts'

/* What an observation tells: changes with their lags, and findings. */

/**
 * `pod-endpointslice`, `pod-endpoints`: from the change of a pod to that of its address; `endpointslice-load-balancer`: from there to an entry;
 * `endpointslice-endpointslice`, `endpointslice-endpoints`: from there to a copy by another program, perhaps in another cluster.
 */
export type Leg = (typeof LEGS)[number]
export const LEGS = [
  'pod-endpointslice',
  'pod-endpoints',
  'endpointslice-load-balancer',
  'endpointslice-endpointslice',
  'endpointslice-endpoints',
] as const

/** One change, at the instant at which it was seen: milliseconds since 1970. */
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
  /** Why it is not ready. */
  because?: PodEndpointReason
  /** When its condition Ready has changed, by the clock of its writer, which counts in seconds. */
  conditionAt?: string
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
  /** As the object has it: what the controller has counted from. */
  triggerAt?: string
  /** Since the pod was seen to change; absent where it was not. */
  lagMs?: number
  /** Of endpoints that another program keeps: since EndpointSlices of other Services were seen to say the same of the address. */
  lags?: ({ lagMs: number } & OfService)[]
}

export interface EntryChange {
  type: 'entry'
  at: number
  loadBalancer: string
  entry: string
  address: string
  /** `unhealthy`: it is in, and gets no requests. */
  change: 'in' | 'unhealthy' | 'draining' | 'out' | 'unknown' | 'gone'
  /** Where an address of a pod is meant. */
  namespace?: string
  pod?: string
  /** Since the EndpointSlice of the Service was seen to change; one for each Service that it has followed. */
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
  /** Findings that rest on such objects are not made. */
  'objects-unread': { cluster: string; what: Exclude<ReadKind, 'nodes'>; because: Reason }
  'load-balancer-unread': { loadBalancer: string; because: Reason }
  /** `sinceMs`: for so long already. `pod`: its name, where it was seen; `podCluster`: where that is another cluster. */
  'stale-address': OfService & {
    object: EndpointObjectKind
    name: string
    address: string
    pod?: string
    podCluster?: string
    why: 'pod-gone' | 'pod-has-another-address' | 'pod-finished'
    sinceMs: number
  }
  /**
   * Writes that change no address: so many, to so many objects, over such a time. Told when there are many, and once more when there were no
   * more for a while (`isOver`). `by`: the client of the last one.
   */
  sweep: {
    cluster: string
    object: EndpointObjectKind
    writes: number
    objects: number
    startedAt: number
    lastAt: number
    isOver: boolean
    by?: Writer
  }
  /**
   * `services` wait for their endpoints, the first of them for `oldestMs`; of late the lag was `lagMs`, and so many changes a second were
   * followed. `drainMs`: until the queue is empty at that rate, where there is one. Told when it begins, and when it is over (`isOver`,
   * with the most there were). `workqueueDepth` and `putsPerSecond` are what the controller manager says itself, where its metrics are read.
   */
  backlog: {
    cluster: string
    object: EndpointObjectKind
    services: number
    oldestMs: number
    lagMs: number
    perSecond: number
    drainMs?: number
    workqueueDepth?: number
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
  /** `ready`: condition Ready of the node; absent where nodes may not be read. */
  'pods-lost-with-heartbeat': { cluster: string; node: string; ready?: string; pods: string[]; spanMs: number }
  'endpoints-truncated': OfService & { addresses: number }
  'pod-flaps': { cluster: string; namespace: string; pod: string; times: number; spanMs: number }
  /** The containers of these pods were restarted while they got requests, within such a time; others may follow. */
  'restarted-in-rotation': OfService & { pods: string[]; spanMs: number }
  /** It has left rotation again when it had been back for `stayedMs`. Where an address of a pod is meant, with that pod. */
  'entry-flaps': { loadBalancer: string; entry: string; address: string; namespace?: string; pod?: string; stayedMs: number }
  /** `formerPod`: the pod whose address it was. */
  'entry-follows-nothing': { loadBalancer: string; entry: string; address: string; formerPod?: string; sinceMs: number }
}

/** The codes are a closed set: docs/observe.md has all of them. */
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
 * A Lease was renewed. `gapMs`: since the renewal before, by the clock of the kubelet. `part-unknown`: its Lease is gone, or cannot be read.
 * No finding rests on these.
 */
export type LeaseChange = { at: number; cluster: string } & (
  | { type: 'node-renewed'; node: string; gapMs: number }
  | { type: 'part-renewed' | 'part-unknown'; part: (typeof CONTROL_PLANE_PARTS)[number] }
)

/** What is so at one instant. */
export interface ObserverSnapshot {
  at: number
  /** `listing`: not all that it has is known yet. */
  clusters: { name: string; is: 'listing' | 'observed' | 'unreachable' }[]
  /** Those that were asked already. */
  loadBalancers: { name: string; isRead: boolean; entries: Record<EntryChange['change'], number> }[]
  /** That hold, the first to begin first. One that is about a moment holds for the time that its rule looks back. */
  findings: { finding: ObserverFinding; beganAt: number }[]
  /** Services that wait for their endpoints, the first of them for `oldestMs`. */
  backlogs: { cluster: string; object: EndpointObjectKind; services: number; oldestMs: number }[]
}

/** Of one leg of one Service. Percentiles are right to 5 %. */
export interface LegSummary {
  cluster: string
  namespace: string
  service: string
  leg: Leg
  /** Of that leg to a load balancer. */
  loadBalancer?: string
  /** Of the legs to copies: the cluster of the EndpointSlice. The Service is that of the copy. */
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
