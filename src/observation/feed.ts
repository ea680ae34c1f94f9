import type { ObjectRecord, ReflectorEvent } from '../kube/reflector.ts'

/** What a feed lists and watches. */
export interface FeedRequest<R extends ObjectRecord, C = undefined, I = undefined> {
  /** Collection path without a query, for example `/api/v1/namespaces/default/pods`. */
  path: string
  labelSelector?: string
  fieldSelector?: string
  /** Checks and trims one raw object; throws where it is malformed. Users share a feed where they give the same function. */
  decode: (raw: unknown) => R
  /** What all users of the feed look things up in; made once a feed. */
  createIndex?: () => FeedIndex<R, C, I>
}

export interface FeedIndex<R extends ObjectRecord, C, I> {
  /** Takes in an event before any user hears of it; gives what it has changed. */
  apply(event: ReflectorEvent<R>): C
  lookup: I
}

/** One user of a feed, as a rule one view of one run. */
export interface FeedUser<R extends ObjectRecord, C = undefined> {
  /** First what is known already, as `added`; then each change. */
  onEvent(event: ReflectorEvent<R>, change: C | undefined): void
  /** Is an object that cannot be read one of this user's, by its raw metadata? Default: each. */
  concerns?(metadata: unknown): boolean
  /** Every error once the user has joined. `lasting`: the server has refused for so long that a run has to end; the feed goes on trying. */
  onError(error: Error, lasting: boolean): void
  /** What `isCurrent` or `isBroken` says has changed. */
  onSight?(): void
  /** This user waits for a change. */
  isAwaited?(): boolean
}

/** The newest known version of each object of one collection, as one of its users has it. */
export interface Feed<R extends ObjectRecord, I = undefined> {
  /** By uid; shared with all users. */
  records(): ReadonlyMap<string, R>
  lookup: I
  /** Takes in an answer of the API server, unless a newer version is known; gives the newest known version. */
  observe(raw: unknown): R
  /** The same for a look that was meant to tell what the watch has not: with the event, where the version is news to the users. */
  announce(raw: unknown): R
  /** The watch has brought a line just now: what it has not told yet it will tell soon. */
  isHeard(): boolean
  /** Has the objects of one name observed anew, and no others. Rejects with a KubeError. */
  look(name: string): Promise<void>
  /** The records are of now, but for what a watch lags; not while this user has them observed anew. */
  isCurrent(): boolean
  /** They are not, since they could not be listed or watched. */
  isBroken(): boolean
  /**
   * Has them observed anew, together with all users that ask before the list begins. Resolves once they are known as of now, or
   * cannot be had; never rejects.
   */
  refresh(): Promise<void>
  /** Leaves the feed; the last user closes it. */
  stop(): Promise<void>
}
