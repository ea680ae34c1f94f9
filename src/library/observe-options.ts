import type { Config } from '../config/config.ts'
import type { ObservedEvent } from '../observer/events.ts'
import type { ObserverCounts, ObserverOptions } from '../observer/observer.ts'
import type { Look } from '../observer/read/observe.ts'
import type { LeaseChange, ObserverSummary, Told } from '../observer/told.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { OtherTrust } from '../kube/other-server.ts'
import type { Cluster } from './cluster.ts'

/** The metrics of a controller manager. The request has the credentials for the API server. */
export interface ManagerMetrics extends OtherTrust {
  /** For example `https://10.0.0.1:10257/metrics`. */
  url: string
}

/** A cluster, with either `cluster` or `connect`. */
export interface ObserveCluster {
  /** The name of the cluster in changes and findings. */
  name: string
  /** A connected cluster, which the caller closes. */
  cluster?: Cluster
  /** Connects the cluster, which is closed at the end. Called until it resolves, for eight clusters at once. */
  connect?(signal: AbortSignal): Promise<Cluster>
  /** The metrics are read every 5 s, and are told with a backlog. The `Cluster` must come from the `connect` of this package. */
  managerMetrics?: ManagerMetrics
}

export interface ObserveOptions {
  /** A cluster whose `connect` rejects is a finding. Where the first calls of all clusters reject, so does `observe`. */
  clusters: readonly ObserveCluster[]
  /** The load balancers of this config are read, and never changed. Default: none. */
  config?: Config
  /** The namespace that is observed. Default: the namespace of each cluster. */
  namespace?: string
  /** Observes all namespaces. Excludes `namespace`. */
  allNamespaces?: boolean
  /** The time for which a stale address or entry is no finding. Default: 10 s. */
  graceMs?: number
  /** The time between two reads of a load balancer. Default: 2 s. */
  pollMs?: number
  /** Ends the observation. */
  signal: AbortSignal
  /** Called with each change and each finding, in the order of their instants. */
  onTold(told: Told): void
  /** Called once, with the options for `replayObservation`. `look` returns the state at the instant of a call. */
  onStart?(options: ObserverOptions, look: Look): void
  /** Called with each event, for `replayObservation`. */
  onEvent?(event: ObservedEvent): void
  /** Called every `everyMs` with a summary of the observation until then. */
  summary?: { everyMs: number; onSummary(summary: ObserverSummary): void }
  /** Called with each lag, for metrics. */
  onLag?: ObserverCounts['onLag']
  /** Called with each write of endpoints, for metrics. */
  onWrite?: ObserverCounts['onWrite']
  /** Called with each change of a Lease, for metrics. Leases are watched only where this is present. */
  onLease?(change: LeaseChange): void
  /** For tests, as is `random`. */
  clock?: Clock
  random?: Random
}
