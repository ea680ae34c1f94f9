import { KubeError } from '../kube/errors.ts'
import type { ObjectRecord } from '../kube/reflector.ts'
import type { Feed, FeedRequest, FeedUser } from './feed.ts'
import { createSharedFeed, type FeedPorts, JOINED_WITHIN_MS, type SharedFeed } from './shared-feed.ts'

/**
 * The scope of a feed:
 * - `request`: the objects of one run, by its selectors. For a process with one run: it needs the fewest rights and lists the fewest
 *   objects.
 * - `namespace`: all objects of a kind in a namespace, shared by the runs of a process. For a process with many runs.
 */
export type FeedScope = 'request' | 'namespace'

/** The feeds of a process: one feed for each collection, shared by all runs. */
export interface SharedObservation {
  readonly scope: FeedScope
  /** The ports for watches beside the feeds, such as the watch of a single object of a single run. */
  readonly ports: FeedPorts
  /**
   * Joins the feed of the collection, or opens it. Resolves after a list that began after the call. Rejects with a KubeError if the server
   * refuses the list, with the last error if there is no list within 60 s, and with the reason of the signal; the user has then left the
   * feed.
   */
  open<R extends ObjectRecord, C = undefined, I = undefined>(
    request: FeedRequest<R, C, I>,
    user: FeedUser<R, C>,
    signal?: AbortSignal,
  ): Promise<Feed<R, I>>
  /** The number of open feeds; each feed is one watch. */
  readonly size: number
}

export interface ObservationOptions extends FeedPorts {
  scope: FeedScope
}

type Feeds = Map<string, SharedFeed<never, unknown, unknown>>

/** An observation needs no closing: each feed closes after its last user. */
export function createObservation({ scope, ...ports }: ObservationOptions): SharedObservation {
  /** The feeds by their `decode`, because users with different decoders cannot share records. */
  const byDecode = new Map<unknown, Feeds>()

  function sharedFeed<R extends ObjectRecord, C, I>(
    request: FeedRequest<R, C, I>,
  ): { shared: SharedFeed<R, C, I>; isNew: boolean } {
    const feeds = byDecode.get(request.decode) ?? new Map<string, SharedFeed<never, unknown, unknown>>()
    byDecode.set(request.decode, feeds)
    const key = JSON.stringify([request.path, request.labelSelector, request.fieldSelector])
    // The records have the type R, because the feeds of this map have this `decode`.
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
          // The time limit of the user that began the list may be over before this user's limit. The feed is opened anew then.
          if (isNew || !shared.hasFailed() || !isPassing(error) || ports.clock.now() >= endsAt) throw error
          before = error
        }
      }
    },
  }
}

/** True for no answer, or an answer such as 429 or 5xx: the request may succeed a moment later. */
function isPassing(error: unknown): error is KubeError {
  if (!(error instanceof KubeError)) return false
  const { status } = error
  return status === undefined || status >= 500 || status === 429
}
