import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { KubeClient } from './client.ts'

/** What every trimmed record keeps, so that the reflector can tell objects and versions apart. */
export interface ObjectRecord {
  uid: string
  name: string
  namespace: string
  resourceVersion: string
}

export interface ReflectorEvent<R extends ObjectRecord> {
  type: 'added' | 'modified' | 'deleted'
  record: R
  /**
   * True where no version of this object can have been missed since the event before it;
   * false for the first sight and after a relist. The witness rule needs to know.
   */
  continuous: boolean
}

export interface ReflectorOptions<R extends ObjectRecord> {
  client: KubeClient
  clock: Clock
  random: Random
  /** Collection path without a query, for example `/api/v1/namespaces/default/pods`. */
  path: string
  labelSelector?: string
  fieldSelector?: string
  /** Checks and trims one raw object; throws where it is malformed. */
  decode: (raw: unknown) => R
  onEvent: (event: ReflectorEvent<R>) => void
  /** Every error, also those that the reflector survives. `fatal` ones (401, 403, 404) end it. */
  onError: (error: Error, fatal: boolean) => void
}

/**
 * Lists once, then watches with bookmarks; resumes, or relists with a diff by UID, after whatever happens.
 */
export interface Reflector<R extends ObjectRecord> {
  /** Resolves once the first list is in; rejects where it cannot be had. Call once. */
  start(): Promise<void>
  /** The newest known version of every object, by uid. */
  records(): ReadonlyMap<string, R>
  /**
   * Takes in an object from elsewhere (the answer of a PATCH or a GET) unless a newer version is known;
   * gives what is now known. It never counts as continuous by itself: versions between may come later by the watch.
   */
  observe(raw: unknown): R
  stop(): Promise<void>
}
