import type { ObjectRecord, ReflectorEvent } from '../kube/reflector.ts'

/** The collection that a feed lists and watches. */
export interface FeedRequest<R extends ObjectRecord, C = undefined, I = undefined> {
  /** Path of the collection without a query, for example `/api/v1/namespaces/default/pods`. */
  path: string
  labelSelector?: string
  fieldSelector?: string
  /** Checks and trims one raw object; throws if it is malformed. Users share a feed only if they pass the identical function. */
  decode: (raw: unknown) => R
  /** Creates the index that all users of the feed share; called once per feed. */
  createIndex?: () => FeedIndex<R, C, I>
}

export interface FeedIndex<R extends ObjectRecord, C, I> {
  /** Applies an event before the users get it; returns the changes that it made. */
  apply(event: ReflectorEvent<R>): C
  lookup: I
}

/** One user of a feed, usually a view of one run. */
export interface FeedUser<R extends ObjectRecord, C = undefined> {
  /** Called with each known object as `added` first; then with each change. */
  onEvent(event: ReflectorEvent<R>, change: C | undefined): void
  /** Decides by the raw metadata whether an unreadable object belongs to this user. Default: each object does. */
  concerns?(metadata: unknown): boolean
  /**
   * Called with every error after the user has joined. `lasting`: the server has refused for so long that a run has to end, while the feed
   * keeps trying.
   */
  onError(error: Error, lasting: boolean): void
  /** Called when `isCurrent` or `isBroken` changes. */
  onSight?(): void
  /** True while this user waits for a change. */
  isAwaited?(): boolean
}

/** The newest known version of each object of a collection, for one user. */
export interface Feed<R extends ObjectRecord, I = undefined> {
  /** The objects by uid; all users share the map. */
  records(): ReadonlyMap<string, R>
  lookup: I
  /** Applies an answer of the API server unless a newer version is known; returns the newest known version. */
  observe(raw: unknown): R
  /**
   * Applies an answer as `observe` does, and also calls `onEvent` of the users if the version is new. For reads that check on a silent
   * watch.
   */
  announce(raw: unknown): R
  /** True if the watch has just delivered a line, and so is expected to deliver later changes soon. */
  isHeard(): boolean
  /** Reads the objects of one name anew, and no others. Rejects with a KubeError. */
  look(name: string): Promise<void>
  /** True if the records are current, apart from the lag of a watch; false while this user refreshes them. */
  isCurrent(): boolean
  /** True if the records are not current because listing or watching them failed. */
  isBroken(): boolean
  /**
   * Lists the objects anew, once for all users that ask before the list begins. Resolves when the records are current, or when the list
   * failed; never rejects.
   */
  refresh(): Promise<void>
  /** Leaves the feed. The feed closes after its last user. */
  stop(): Promise<void>
}
