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
  /** Of this sluice alone: `close` closes it. */
  cluster: Cluster
  /**
   * By `loadConfig` or `checkConfig`; or a function that gives it, called when it is needed first. Only what reads and writes records
   * (status, report, pause, resume, abort) and explain can do without; `end` of an abort cannot.
   */
  config?: Config | (() => Promise<Config>)
  /** Of workloads, such as `createKinds([...KINDS.all, mine])`. Default: those that sluice knows by itself. */
  kinds?: Kinds
  /** Names this process in the Leases of its runs. Default: host and process id. */
  identity?: string
  /** Names who gives its orders, for the person who finds them. Default: the identity. */
  by?: string
  /**
   * How much the runs of this process watch. `namespace` (default): each kind in a namespace once for all runs; where the right to list
   * all workloads is missing, the one by its name. `request`: what each run is about, for a process with one run.
   */
  watch?: FeedScope
  /** Told of each warning while a plan is made, or a run goes on; of runs it is among the events too. */
  onWarning?(warning: { reason: Reason; message: string; pod?: string }): void
  /** For tests alone. */
  clock?: Clock
  /** For tests alone. */
  random?: Random
}

export interface CallOptions {
  /** Ends the call at once, with its reason. */
  signal?: AbortSignal
}

export interface PlanOptions extends CallOptions {
  /** Told of what happens while the plan is made. */
  onEvent?(event: RunEvent): void
}

export interface ExplainOptions extends CallOptions {
  /** Leases of nodes in doubt are watched, for so many milliseconds at most. */
  onWatching?(watch: LeaseWatch): void
}

export interface RunOptions {
  /**
   * While the run is being prepared the signal ends it at once: `plan` and `result` reject with the signal's reason, and nothing was
   * touched. After that it interrupts, as `interrupt(graceMs)` does.
   */
  signal?: AbortSignal
  /** What the signal, and `interrupt` where it is not told, give pods that are patched already to come home. Default 5,000. */
  graceMs?: number
}

export interface AbortOptions {
  /** Ends the wait; an order that was given stands. */
  signal?: AbortSignal
  /** False: the order is given and not waited for. Default true. */
  wait?: boolean
  /** The order stands from here on, whatever becomes of this process. */
  onOrdered?(ordered: Ordered): void
  /** After each look at a Lease that is held by the process that is waited for. */
  onWaiting?(ordered: Ordered, holder: string): void
}

export interface ConfigOptions {
  /** Adapters beside the built-in ones, by the name that `adapter:` in the config gives; one of a built-in name takes its place. */
  adapters?: readonly AdapterDefinition[]
  /** Ends the call at once, with its reason. */
  signal?: AbortSignal
}
