import type { AdapterDefinition } from '../../adapters/contract.ts'
import type { Config } from '../config/config.ts'
import type { RunEvent } from '../engine/events.ts'
import type { LeaseWatch } from '../explain/read/request.ts'
import type { FeedScope } from '../observation/observation.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Reason } from '../reasons/reason.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import type { Cluster } from './cluster.ts'
import type { Ordered } from './ordered.ts'

export interface SluiceOptions {
  /** The cluster, which belongs to this sluice alone: `close` closes it. */
  cluster: Cluster
  /**
   * The result of `loadConfig` or `checkConfig`, or a function that returns it and is called on first use. `status`, `report`, `pause`,
   * `resume`, `abort` and `explain` need no config; `end` of an abort does.
   */
  config?: Config | (() => Promise<Config>)
  /** The kinds of workloads, such as `createKinds([...KINDS.all, mine])`. Default: the built-in kinds. */
  kinds?: Kinds
  /** The name of this process in the Leases of its runs. Default: host name and process id. */
  identity?: string
  /** The display name of the giver of orders. Default: the identity. */
  by?: string
  /**
   * The scope of the watches of this process. `namespace` (default): each kind in a namespace once, for all runs; a workload is watched by
   * its name if the right to list all workloads is missing. `request`: the objects of each run, for a process with one run.
   */
  watch?: FeedScope
  /** Called with each warning of a plan or a run. The warnings of a run are events of the run as well. */
  onWarning?(warning: { reason: Reason; message: string; pod?: string }): void
  /** The clock; for tests only. */
  clock?: Clock
  /** The random numbers; for tests only. */
  random?: Random
}

export interface CallOptions {
  /** Ends the call at once; the call rejects with the signal's reason. */
  signal?: AbortSignal
}

export interface PlanOptions extends CallOptions {
  /** Called with each event while the plan is made. */
  onEvent?(event: RunEvent): void
}

export interface ExplainOptions extends CallOptions {
  /** Called when the Leases of suspect nodes are watched; the watch says for how many milliseconds at most. */
  onWatching?(watch: LeaseWatch): void
}

export interface RunOptions {
  /**
   * While the run is being prepared, the signal ends it at once: `plan` and `result` reject with the signal's reason, and nothing was
   * changed. After that the signal interrupts the run as `interrupt(graceMs)` does.
   */
  signal?: AbortSignal
  /**
   * The time in milliseconds that patched pods get to return to rotation after the signal, or after `interrupt` without an argument.
   * Default 5,000.
   */
  graceMs?: number
}

export interface AbortOptions {
  /** Ends the wait; the given order still applies. */
  signal?: AbortSignal
  /** False gives the order without waiting for its effect. Default true. */
  wait?: boolean
  /** Called when the order is written; from then on it applies, even if this process ends. */
  onOrdered?(ordered: Ordered): void
  /** Called after each look at a Lease whose holder is waited for. */
  onWaiting?(ordered: Ordered, holder: string): void
}

export interface ConfigOptions {
  /**
   * Adapters in addition to the built-in ones, by the name that `adapter:` in the config refers to. An adapter with a built-in name
   * replaces the built-in adapter.
   */
  adapters?: readonly AdapterDefinition[]
  /** Ends the call at once; the call rejects with the signal's reason. */
  signal?: AbortSignal
}
