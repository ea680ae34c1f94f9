import type { KubeClient } from '../kube/client.ts'
import type { ObjectRecord, ReflectorEvent } from '../kube/reflector.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

/**
 * - `listing`: the first list is under way.
 * - `current`: the records are current, apart from the lag of a watch.
 * - `broken`: the API server does not answer. The records are those of before.
 * - `refused`: this user may not list or watch the kind.
 * - `absent`: the API server has no such kind.
 */
export type CollectionState = { is: 'listing' | 'current' | 'absent' } | { is: 'broken' | 'refused'; because: Error }

export interface CollectionOptions<R extends ObjectRecord> {
  client: KubeClient
  clock: Clock
  random: Random
  /** Path of the collection without a query, for example `/api/v1/namespaces/default/pods`. */
  path: string
  labelSelector?: string
  /** Checks and trims one raw object; throws if it is malformed. */
  decode: (raw: unknown) => R
  onEvent(event: ReflectorEvent<R>): void
  /** Called with each new state. */
  onState?(state: CollectionState): void
  signal: AbortSignal
}

/** The objects of one kind in one scope, for a server that runs for months: it lists and watches until the signal, and never gives up. */
export interface Collection<R extends ObjectRecord> {
  records(): ReadonlyMap<string, R>
  state(): CollectionState
  /** Resolves once the kind is listed, refused or absent; also by the signal. */
  settled: Promise<void>
  /** Resolves after the signal, once the watch has ended. */
  ended: Promise<void>
}
