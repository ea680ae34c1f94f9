/** The calls of `defineAdapter`: the code of an adapter for a load balancer with settings that can be changed and read back. */
import type { Call, EffectCall, EffectResult, HealthCheck, Json } from './contract.ts'
import type { Entry } from './entry.ts'

/** An entry, with its state before the drain. */
export interface Former {
  entry: Entry
  state: Entry['state']
  prior: Json
}

/** The context of a read. The signal aborts at the deadline of the call, and when the adapter closes. */
export type ListCall = Call & {
  signal: AbortSignal
  /** The requested scopes. Absent: all scopes. The list may contain entries of other scopes too. */
  scopes?: readonly string[]
  /**
   * A restore depends on this list, so the list continues if an instance does not show which writes it has loaded. An entry that such an
   * instance may not have loaded has a `state` other than its `becomes`.
   */
  beforeRestore?: true
}
/** An entry that existed, as its target identifies it. */
export type GoneEntry = Pick<Entry, 'name' | 'scope' | 'address' | 'port'>
export type ChangeCall = EffectCall & {
  signal: AbortSignal
  /** The id of the operation on this entry. It stays the same for every attempt of a change, also in another process. */
  operationOf(entry: Entry): string
}

/** The results of a change by `resultKey` of the entry. Absent: the change of every entry is done. */
export type ChangeResults = ReadonlyMap<string, EffectResult>

export interface LoadBalancerCalls {
  /**
   * All scopes in the options, for adapters whose options may have other scopes. sluice refuses a pod that was drained in a scope outside
   * of this list.
   */
  scopes?: readonly string[]
  /** Reads all entries now. An error that is not an AdapterError, or is `ambiguous`, counts as `retryable`. */
  list(call: ListCall): Promise<readonly Entry[]>
  /**
   * For a load balancer whose drain removes the entry. Runs right after the list, for targets that the list lacks. Gives, as `draining`,
   * the entries that the load balancer itself reports as missing.
   */
  missing?(gone: readonly GoneEntry[], call: ListCall): Promise<readonly Entry[]>
  /**
   * Takes these entries of one scope out, at most `maxBatch` of them. No entry is out already or in maintenance. The code must call
   * `call.assertLive` right before the bytes leave. An error that is not an AdapterError counts as `ambiguous`.
   */
  drain(entries: readonly Entry[], call: ChangeCall): Promise<ChangeResults | void>
  /** Puts these entries back into their former state. The rules of `drain` apply. */
  restore(formers: readonly Former[], call: ChangeCall): Promise<ChangeResults | void>
  /** See Adapter. */
  healthChecks?(call: ListCall): Promise<HealthCheck[]>
  close?(): Promise<void> | void
}
