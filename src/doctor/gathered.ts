import type { HealthCheck, TargetObservation } from '../../adapters/contract.ts'
import type { CleanupRecord } from '../engine/ledgers/cleanup.ts'
import type { Status } from '../engine/status/status.ts'
import type { StoredEndpoints, StoredSlice } from '../endpoints/stored.ts'
import type { Reason } from '../reasons/reason.ts'
import type { Skip } from './findings.ts'
import type { Budget, Event, Lease, Namespace, Node, Pod, Service, WebhookConfiguration } from './objects.ts'

/** The value that was read, or the reason why it could not be read. */
export type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly because: Skip }
export type Listed<One> = Read<readonly One[]>

/** The kinds that the doctor lists. */
export interface Objects {
  pods: Pod
  services: Service
  slices: StoredSlice
  endpoints: StoredEndpoints
  budgets: Budget
  namespaces: Namespace
  nodes: Node
  /** The Leases of namespace kube-node-lease, one for each node. */
  nodeLeases: Lease
  /** The Leases of namespace kube-system. Those of the control plane are among them. */
  systemLeases: Lease
  /** The Events `NodeNotReady` of nodes. */
  nodeEvents: Event
  /** The pods of the controller manager, where it runs as pods. */
  controllerManagers: Pod
  validatingWebhooks: WebhookConfiguration
  mutatingWebhooks: WebhookConfiguration
}

/** A workload whose controller replaces pods by its template, and its update strategy. */
export interface Template {
  namespace: string
  /** The name, such as `statefulset/web`. */
  workload: string
  strategy?: string
}

export interface Server {
  /** The version, such as `v1.35.4`. */
  version: string
  /** The minor version, such as 35; absent where `version` cannot be parsed. */
  minor?: number
  patch?: number
  /** The difference between the clocks; `aheadMs` is above 0 where this machine is ahead of the API server. */
  clock?: { aheadMs: number; uncertaintyMs: number }
}

/** The rights that a run in a namespace needs, and the caller lacks. */
export interface Rights {
  namespace: string
  missing: readonly string[]
  /** The reason why some rights could not be checked. */
  unasked?: Reason
}

/** The result of the probe. */
export interface Probe {
  namespace: string
  service: string
  /** The time until the EndpointSlice existed; absent where it did not appear, or no Service was created. */
  lagMs?: number
  /** The time for which the doctor waited in vain. */
  waitedMs?: number
  /** The reason why the Service could not be created, or its EndpointSlices could not be read. */
  refused?: Reason
  /** The reason why the Service could not be removed. */
  left?: Reason
}

/** A pod in a load balancer. */
export interface BalancedPod {
  uid: string
  /** Absent where the load balancer has no entry for the pod. */
  entries?: readonly { target: string; observation: TargetObservation }[]
  /** The reason why there is no entry. */
  because?: Reason
}

export interface StrayEntry {
  target: string
  address: string
  /** Absent where it is not known. */
  inRotation?: boolean
}

/** The state of a load balancer of the config. */
export interface BalancerState {
  name: string
  /** The reason why the load balancer could not be read. `refuses` is true where a retry cannot help. */
  unread?: { because: Reason; refuses: boolean }
  pods: readonly BalancedPod[]
  /** The quickest health check; absent where the load balancer has none, or where it is not known. */
  healthCheck?: HealthCheck
  /** The entries at addresses that no pod of the cluster has; absent where the adapter cannot list entries. */
  strays?: Read<readonly StrayEntry[]>
  /** The number of other entries without a known pod, whose addresses were not searched for in the cluster. */
  unasked?: number
  /** The targets whose drain or restore cannot be made. */
  impossible: readonly { target: string; because: Reason }[]
  lock?: Rights & { unreachable?: Reason }
}

/** The records of one namespace. */
export interface Records {
  namespace: string
  status: Status
  /** The Leases of workloads that a live process holds. `lease` is the name of the Lease. */
  live: readonly { lease: string; holder: string }[]
  /** The records that a cleanup would remove; not read where a run holds a Lease. */
  unneeded: Read<readonly CleanupRecord[]>
}

/** All data that the checks use. */
export interface Gathered {
  /** The namespace that is examined; absent where all are. */
  namespace?: string
  /**
   * The instant just before the lists were requested, in milliseconds since 1970, by the clock of the API server where it is known. An
   * object that is too old by this instant was too old in its list, however long other lists took.
   */
  nowAt: number
  /** The duration of the lists. An object that was written meanwhile has an instant of up to `readMs` after `nowAt`. */
  readMs: number
  server: Read<Server>
  /** The workloads to upgrade in place that the request names, such as `statefulset/web`. */
  wanted: readonly string[]
  /** The reason why the API server could not be reached. Every part is unread then. */
  unreachable?: Reason
  /** The rights in each namespace with records, or in the namespace that is examined. */
  rights: Read<readonly Rights[]>
  listed: { readonly [Kind in keyof Objects]: Listed<Objects[Kind]> }
  /** The Leases of nodes, read a second time; absent where no Ready node seemed late. */
  secondLook?: Listed<Lease>
  /** The number of ready endpoints of the Service of each webhook that fails closed, by `NAMESPACE/NAME`. */
  webhookServers: ReadonlyMap<string, Read<number>>
  /** The workloads of each kind whose template sluice writes. */
  templates: readonly Listed<Template>[]
  /** The display name of the workload of each pod, by the UID of the pod. */
  workloads: ReadonlyMap<string, string>
  /** Absent where the request asks for no probe. */
  probe?: Probe
  /** Absent where there is no config. */
  balancers?: readonly BalancerState[]
  records: Read<readonly Records[]>
}
