import type { HealthCheck, TargetObservation } from '../../adapters/contract.ts'
import type { CleanupRecord } from '../engine/ledgers/cleanup.ts'
import type { Status } from '../engine/status/status.ts'
import type { StoredEndpoints, StoredSlice } from '../endpoints/stored.ts'
import type { Reason } from '../reasons/reason.ts'
import type { Skip } from './findings.ts'
import type { Budget, Event, Lease, Namespace, Node, Pod, Service, WebhookConfiguration } from './objects.ts'

/** What was read, or why it could not be. */
export type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly because: Skip }
export type Listed<One> = Read<readonly One[]>

/** Each kind is listed once. */
export interface Objects {
  pods: Pod
  services: Service
  slices: StoredSlice
  endpoints: StoredEndpoints
  budgets: Budget
  namespaces: Namespace
  nodes: Node
  /** Of namespace kube-node-lease: one for each node. */
  nodeLeases: Lease
  /** Of namespace kube-system: those of the control plane are among them. */
  systemLeases: Lease
  /** `NodeNotReady` of nodes. */
  nodeEvents: Event
  /** Of the controller manager, where it runs as one that can be seen. */
  controllerManagers: Pod
  validatingWebhooks: WebhookConfiguration
  mutatingWebhooks: WebhookConfiguration
}

/** A workload whose controller brings pods to its template, and how. */
export interface Template {
  namespace: string
  /** Such as `statefulset/web`. */
  workload: string
  strategy?: string
}

export interface Server {
  /** Such as `v1.35.4`. */
  version: string
  /** 35 of it; absent where it cannot be read. */
  minor?: number
  patch?: number
  /** How far the own wall clock is ahead of that of the API server. */
  clock?: { aheadMs: number; uncertaintyMs: number }
}

/** Rights that a run in a namespace needs, and that the caller lacks. */
export interface Rights {
  namespace: string
  missing: readonly string[]
  /** Some could not be asked for. */
  unasked?: Reason
}

/** What became of the probe Service. */
export interface Probe {
  namespace: string
  service: string
  /** Until its EndpointSlice was there; absent where it did not come, or nothing was made. */
  lagMs?: number
  /** How long it was waited for. */
  waitedMs?: number
  /** It could not be made, or its slices not be read. */
  refused?: Reason
  /** It could not be removed. */
  left?: Reason
}

/** One pod in one load balancer. */
export interface BalancedPod {
  uid: string
  /** Absent where the load balancer has no entry for it. */
  entries?: readonly { target: string; observation: TargetObservation }[]
  /** Why there is no entry. */
  because?: Reason
}

export interface StrayEntry {
  target: string
  address: string
  /** Absent where that is not known. */
  inRotation?: boolean
}

/** What a load balancer of the config says. */
export interface BalancerState {
  name: string
  /** It could not be read. `refuses`: trying again cannot help. */
  unread?: { because: Reason; refuses: boolean }
  pods: readonly BalancedPod[]
  /** The quickest of its own; absent where it has none, or that is not known. */
  healthCheck?: HealthCheck
  /** Entries at addresses that no pod of the cluster has; absent where the adapter cannot list, or not all pods could be asked for. */
  strays?: Read<readonly StrayEntry[]>
  /** How many entries more are at addresses that no pod read has, and that were not asked for. */
  unasked?: number
  /** Of the drain and the restore of these targets, none can be made. */
  impossible: readonly { target: string; because: Reason }[]
  lock?: Rights & { unreachable?: Reason }
}

/** The records of one namespace. */
export interface Records {
  namespace: string
  status: Status
  /** Leases of workloads that were renewed a moment ago, by their names. */
  live: readonly { lease: string; holder: string }[]
  /** What a cleanup would remove; why it was not asked for, where a run is at work. */
  unneeded: Read<readonly CleanupRecord[]>
}

/** All that the checks look at. */
export interface Gathered {
  /** Absent: all. */
  namespace?: string
  /**
   * When the lists were asked for, by the clock of the API server, where that is known: milliseconds since 1970. What is old by this
   * instant was so in each of them, however long others took.
   */
  nowAt: number
  /** How long the lists took: what was written meanwhile is of up to that later than `nowAt`. */
  readMs: number
  server: Read<Server>
  /** Workloads that are to be upgraded in place, such as `statefulset/web`: those that were named. */
  wanted: readonly string[]
  /** Why nothing could be read at all. */
  unreachable?: Reason
  /** Of each namespace that has records, or of the one that is looked at. */
  rights: Read<readonly Rights[]>
  listed: { readonly [Kind in keyof Objects]: Listed<Objects[Kind]> }
  /** Leases of nodes as they were read for a second time; absent where no node that is Ready has seemed late. */
  secondLook?: Listed<Lease>
  /** Ready endpoints of each Service that a webhook fails closed without, by `NAMESPACE/NAME`. */
  webhookServers: ReadonlyMap<string, Read<number>>
  /** Of each kind whose template sluice writes. */
  templates: readonly Listed<Template>[]
  /** What a person calls the workload of each pod, by the UID of the pod. */
  workloads: ReadonlyMap<string, string>
  /** Absent where it was not asked for. */
  probe?: Probe
  /** Absent without a config. */
  balancers?: readonly BalancerState[]
  records: Read<readonly Records[]>
}
