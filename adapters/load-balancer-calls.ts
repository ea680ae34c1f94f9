/** What the code of an adapter does for a load balancer that can be set and read back: the calls of `defineAdapter`. */
import type { Call, EffectCall, EffectResult, HealthCheck, Json } from './contract.ts'
import type { Entry } from './entry.ts'

/** An entry with what it was before it was drained. */
export interface Former {
  entry: Entry
  state: Entry['state']
  prior: Json
}

/** The signal is aborted when the call has lived too long, and when the adapter is closed. */
export type ListCall = Call & {
  signal: AbortSignal
  /** Those that are asked for; absent: all. A list may have others. */
  scopes?: readonly string[]
  /**
   * A restore rests on this list. It goes on without an instance that cannot be asked how it has taken what was written before: what
   * such an instance may not have loaded is an entry that is not as it `becomes`.
   */
  beforeRestore?: true
}
/** An entry that was there, by its target. */
export type GoneEntry = Pick<Entry, 'name' | 'scope' | 'address' | 'port'>
export type ChangeCall = EffectCall & {
  signal: AbortSignal
  /** The id of the operation on this entry: the same for every try of the same change, whoever tries. */
  operationOf(entry: Entry): string
}

/** The results of a change by the entry's name and scope: see `resultKey`. Absent: all of them are done. */
export type ChangeResults = ReadonlyMap<string, EffectResult>

export interface LoadBalancerCalls {
  /** All scopes that the options name, where they can name others: a pod that was drained in another one is refused. */
  scopes?: readonly string[]
  /** All entries, read now. An error that is no AdapterError, or `ambiguous`, counts as `retryable`. */
  list(call: ListCall): Promise<readonly Entry[]>
  /**
   * For a load balancer whose drain takes the entry away. Asked, right after the list, for entries that are not in it: gives those that
   * it says itself that it does not have, as `draining`.
   */
  missing?(gone: readonly GoneEntry[], call: ListCall): Promise<readonly Entry[]>
  /**
   * Takes these out, of one scope, and at most `maxBatch` of them. None is out already, and none is in maintenance. `call.assertLive` is
   * to be asked right before the bytes leave. An error that is no AdapterError counts as `ambiguous`.
   */
  drain(entries: readonly Entry[], call: ChangeCall): Promise<ChangeResults | void>
  /** Puts these back as they were. The same holds as for `drain`. */
  restore(formers: readonly Former[], call: ChangeCall): Promise<ChangeResults | void>
  /** As in Adapter. */
  healthChecks?(call: ListCall): Promise<HealthCheck[]>
  close?(): Promise<void> | void
}
