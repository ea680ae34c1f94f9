import type { KubeClient } from '../kube/client.ts'
import { createReflector, type ObjectRecord, ReflectorError } from '../kube/reflector.ts'
import { unlessAborted } from '../kube/unless-aborted.ts'
import { withinLimit } from '../kube/within-limit.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Feed, FeedRequest, FeedUser } from './feed.ts'

/** A user that joins has a list of now within this, or is told that there is none. */
const JOINED_WITHIN_MS = 60_000

export interface FeedPorts {
  client: KubeClient
  clock: Clock
  random: Random
}

/** One list-and-watch with its users. */
export interface SharedFeed<R extends ObjectRecord, C, I> {
  /**
   * Rejects where there is no list to be had: for lack of rights, or for so long; and with the reason of the signal, which takes the
   * user out again.
   */
  join(user: FeedUser<R, C>, signal?: AbortSignal): Promise<Feed<R, I>>
}

/** Begins with the first user. `onUnused`: the last user has left, or the first list was not to be had. */
export function createSharedFeed<R extends ObjectRecord, C, I>(
  { client, clock, random }: FeedPorts,
  { createIndex, ...collection }: FeedRequest<R, C, I>,
  onUnused: () => void,
): SharedFeed<R, C, I> {
  const users = new Set<FeedUser<R, C>>()
  /** Of these: an error that lasts is what their call rejects with. */
  const joining = new Set<FeedUser<R, C>>()
  const index = createIndex?.()
  let lastError: Error | undefined
  let started: Promise<void> | undefined
  const reflector = createReflector<R>({
    client,
    clock,
    random,
    ...collection,
    onEvent(event) {
      const change = index?.apply(event)
      for (const user of users) tell(user, () => user.onEvent(event, change))
    },
    onError(error, lasting) {
      lastError = error
      const metadata = error instanceof ReflectorError ? error.metadata : undefined
      for (const user of users) {
        const isOfOthers = metadata !== undefined && user.concerns?.(metadata) === false
        if (!isOfOthers && !(lasting && joining.has(user))) user.onError(error, lasting)
      }
    },
    onCurrent() {
      for (const user of users) user.onSight?.()
    },
    isAwaited: () => [...users].some((user) => user.isAwaited?.() === true),
  })

  /** What one user makes of an event is nothing that another has to do without. */
  function tell(user: FeedUser<R, C>, event: () => void): void {
    try {
      event()
    } catch (error) {
      user.onError(error instanceof Error ? error : new Error(String(error)), false)
    }
  }

  async function leave(user: FeedUser<R, C>): Promise<void> {
    if (!users.delete(user) || users.size > 0) return
    onUnused()
    await reflector.stop()
  }

  function feedOf(user: FeedUser<R, C>): Feed<R, I> {
    let asking = 0
    return {
      records: reflector.records,
      lookup: index?.lookup as I,
      observe: reflector.observe,
      announce: reflector.announce,
      isHeard: reflector.isHeard,
      look: reflector.look,
      isCurrent: () => asking === 0 && reflector.isCurrent(),
      isBroken: reflector.isBroken,
      async refresh() {
        asking += 1
        if (asking === 1) user.onSight?.()
        await reflector.refresh()
        asking -= 1
        if (asking === 0 && users.has(user)) user.onSight?.()
      },
      stop: () => leave(user),
    }
  }

  async function joined(user: FeedUser<R, C>, feed: Feed<R, I>): Promise<void> {
    if (started === undefined) {
      started = reflector.start()
      return started
    }
    for (const record of reflector.records().values()) tell(user, () => user.onEvent({ type: 'added', record }, undefined))
    await started
    // What the others know may lag by as much as their watch does, and a run begins with what is so now.
    const isIn = await withinLimit(clock, JOINED_WITHIN_MS, feed.refresh)
    if (!isIn || !reflector.isCurrent())
      throw lastError ?? new Error(`${collection.path}: no list within ${JOINED_WITHIN_MS / 1000} s`)
  }

  return {
    async join(user, signal) {
      users.add(user)
      joining.add(user)
      const feed = feedOf(user)
      const begun = joined(user, feed)
      try {
        await (signal === undefined ? begun : unlessAborted(begun, signal))
        return feed
      } catch (error) {
        // Where the signal has come first, nothing is left to be heard of it.
        begun.catch(() => {})
        await leave(user)
        throw error
      } finally {
        joining.delete(user)
      }
    },
  }
}
