import { KubeError } from '../kube/errors.ts'
import type { ObjectRecord } from '../kube/reflector.ts'
import type { Feed, FeedRequest, FeedUser } from './feed.ts'
import { createSharedFeed, type FeedPorts, JOINED_WITHIN_MS, type SharedFeed } from './shared-feed.ts'

/**
 * How much a feed lists:
 * - `request`: what one run asks for, by its selectors. For a process with one run: the least rights and the least lists.
 * - `namespace`: all of a kind in a namespace, which the runs of a process share. For a process with many runs.
 */
export type FeedScope = 'request' | 'namespace'

/** What a process observes of a cluster: each collection once, however many runs look at it. */
export interface SharedObservation {
  readonly scope: FeedScope
  /** For what is watched beside the feeds: a single object of a single run. */
  readonly ports: FeedPorts
  /**
   * Joins the feed of that collection, or opens it. Resolves once a list is in that was begun after the call; rejects with a KubeError
   * where the server refuses it, with the last error where there is none within 60 s, and with the reason of the signal; this then is
   * no user any more.
   */
  open<R extends ObjectRecord, C = undefined, I = undefined>(
    request: FeedRequest<R, C, I>,
    user: FeedUser<R, C>,
    signal?: AbortSignal,
  ): Promise<Feed<R, I>>
  /** Feeds that are open, each of which is one watch. */
  readonly size: number
}

export interface ObservationOptions extends FeedPorts {
  scope: FeedScope
}

type Feeds = Map<string, SharedFeed<never, unknown, unknown>>

/** Opens nothing by itself, and has nothing to close: a feed is closed after its last user. */
export function createObservation({ scope, ...ports }: ObservationOptions): SharedObservation {
  /** By what reads the objects: two users that read them differently have nothing to share. */
  const byDecode = new Map<unknown, Feeds>()

  function sharedFeed<R extends ObjectRecord, C, I>(
    request: FeedRequest<R, C, I>,
  ): { shared: SharedFeed<R, C, I>; isNew: boolean } {
    const feeds = byDecode.get(request.decode) ?? new Map<string, SharedFeed<never, unknown, unknown>>()
    byDecode.set(request.decode, feeds)
    const key = JSON.stringify([request.path, request.labelSelector, request.fieldSelector])
    // The records of a feed are what its `decode` gives.
    const known = feeds.get(key) as SharedFeed<R, C, I> | undefined
    if (known !== undefined) return { shared: known, isNew: false }
    const shared = createSharedFeed<R, C, I>(ports, request, () => {
      feeds.delete(key)
      if (feeds.size === 0) byDecode.delete(request.decode)
    })
    feeds.set(key, shared as unknown as SharedFeed<never, unknown, unknown>)
    return { shared, isNew: true }
  }

  return {
    scope,
    ports,
    get size() {
      return Array.from(byDecode.values(), (feeds) => feeds.size).reduce((sum, one) => sum + one, 0)
    },
    async open<R extends ObjectRecord, C, I>(
      request: FeedRequest<R, C, I>,
      user: FeedUser<R, C>,
      signal?: AbortSignal,
    ): Promise<Feed<R, I>> {
      const endsAt = ports.clock.now() + JOINED_WITHIN_MS
      let before: Error | undefined
      for (;;) {
        const { shared, isNew } = sharedFeed(request)
        try {
          return await shared.join(user, { signal, leftMs: endsAt - ports.clock.now(), before })
        } catch (error) {
          // A list that another user has waited for may fail early in the time of this user: then the feed is opened anew.
          if (isNew || !shared.hasFailed() || !isPassing(error) || ports.clock.now() >= endsAt) throw error
          before = error
        }
      }
    },
  }
}

/** No answer, or one that says nothing of what was asked for: the same request may be answered a moment later. */
function isPassing(error: unknown): error is KubeError {
  if (!(error instanceof KubeError)) return false
  const { status } = error
  return status === undefined || status >= 500 || status === 429
}
