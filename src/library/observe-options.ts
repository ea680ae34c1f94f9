import type { Config } from '../config/config.ts'
import type { ObservedEvent } from '../observer/events.ts'
import type { ObserverOptions } from '../observer/observer.ts'
import type { ObserverSummary, Told } from '../observer/told.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Cluster } from './cluster.ts'

export interface ObserveOptions {
  /** With the names that they are told by. Whoever has connected them closes them. */
  clusters: readonly { name: string; cluster: Cluster }[]
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
  /** Told of what is observed, once, and then of each event: what `replayObservation` takes. */
  onStart?(options: ObserverOptions): void
  onEvent?(event: ObservedEvent): void
  /** Told of a summary of what there is until now, so often. */
  summary?: { everyMs: number; onSummary(summary: ObserverSummary): void }
  /** For tests alone. */
  clock?: Clock
  random?: Random
}
