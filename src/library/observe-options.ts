import type { Config } from '../config/config.ts'
import type { ObservedEvent } from '../observer/events.ts'
import type { ObserverCounts, ObserverOptions } from '../observer/observer.ts'
import type { Look } from '../observer/read/observe.ts'
import type { LeaseChange, ObserverSummary, Told } from '../observer/told.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { OtherTrust } from '../kube/other-server.ts'
import type { Cluster } from './cluster.ts'

/** A URL such as `https://10.0.0.1:10257/metrics`. It is asked with the credentials for the API server. */
export interface ManagerMetrics extends OtherTrust {
  url: string
}

export interface ObserveCluster {
  name: string
  cluster?: Cluster
  connect?(signal: AbortSignal): Promise<Cluster>
  /** The metrics of its controller manager: read each 5 s, and told beside a backlog. Needs a `cluster` of `connect`. */
  managerMetrics?: ManagerMetrics
}

export interface ObserveOptions {
  /**
   * With the names that they are told by. `cluster`: its caller closes it. `connect`: called until it resolves, for eight clusters at once, and
   * closed at the end; a cluster that it rejects for is a finding, and where all of them do at first, so does `observe`.
   */
  clusters: readonly ObserveCluster[]
  /** Its load balancers are read, and no call changes them. Default: none. */
  config?: Config
  /** Default: that of each cluster. */
  namespace?: string
  /** In place of one namespace. */
  allNamespaces?: boolean
  /** For so long a difference is no finding. Default: 10 s. */
  graceMs?: number
  /** Between two reads of a load balancer. Default: 2 s. */
  pollMs?: number
  /** Ends it. */
  signal: AbortSignal
  /** Told of each change and each finding, in the order of their instants. */
  onTold(told: Told): void
  /** Told of what is observed, once, and then of each event: what `replayObservation` takes. `look`: what is so at the instant of a call. */
  onStart?(options: ObserverOptions, look: Look): void
  onEvent?(event: ObservedEvent): void
  /** Told of a summary of what there is until now, so often. */
  summary?: { everyMs: number; onSummary(summary: ObserverSummary): void }
  /** Told of each lag, each write of endpoints, and each renewal of a Lease, as metrics count them. Leases are watched for the last alone. */
  onLag?: ObserverCounts['onLag']
  onWrite?: ObserverCounts['onWrite']
  onLease?(change: LeaseChange): void
  /** For tests alone. */
  clock?: Clock
  random?: Random
}
