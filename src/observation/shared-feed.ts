import type { KubeClient } from '../kube/client.ts'
import { createReflector, type ObjectRecord, ReflectorError } from '../kube/reflector.ts'
import { unlessAborted } from '../kube/unless-aborted.ts'
import { withinLimit } from '../kube/within-limit.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Feed, FeedRequest, FeedUser } from './feed.ts'

/** A user that joins has a list of now within this, or is told that there is none. */
export const JOINED_WITHIN_MS = 60_000

export interface FeedPorts {
  client: KubeClient
  clock: Clock
  random: Random
}

export interface JoinOptions {
  signal: AbortSignal | undefined
  /** What is left of this user's time, where it is not the first to ask: whoever began the list had another. */
  leftMs: number
  /** Why the feed before this one has failed. */
  before: Error | undefined
}

/** One list-and-watch with its users. */
export interface SharedFeed<R extends ObjectRecord, C, I> {
  /**
   * Rejects where there is no list to be had: for lack of rights, or for so long; and with the reason of the signal, which takes the
   * user out again.
   */
  join(user: FeedUser<R, C>, options: JoinOptions): Promise<Feed<R, I>>
  /** The first list was not to be had: no user was told of an object, and whoever has time left needs another feed. */
  hasFailed(): boolean
}

/** Begins with the first user. `onUnused`, once: the last user has left, or the first list was not to be had. */
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
  let failed = false
  let isUsed = true
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

  function close(): void {
    if (isUsed) onUnused()
    isUsed = false
  }

  async function leave(user: FeedUser<R, C>): Promise<void> {
    if (!users.delete(user) || users.size > 0) return
    close()
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

  async function joined(user: FeedUser<R, C>, feed: Feed<R, I>, { leftMs, before }: JoinOptions): Promise<void> {
    const endsAt = clock.now() + leftMs
    const inTime = (work: () => Promise<unknown>): Promise<boolean> => withinLimit(clock, endsAt - clock.now(), work)
    const noList = (): Error =>
      lastError ?? before ?? new Error(`${collection.path}: no list within ${JOINED_WITHIN_MS / 1000} s`)
    const isFirst = started === undefined
    if (started === undefined) {
      started = reflector.start()
      // Before any user is told: one that opens the feed again must not find this one.
      started.catch(() => {
        failed = true
        close()
      })
      if (before === undefined) return started
    }
    for (const record of reflector.records().values()) tell(user, () => user.onEvent({ type: 'added', record }, undefined))
    const beginning = started
    if (!(await inTime(() => beginning))) throw noList()
    await beginning
    // Its list was begun after it came.
    if (isFirst) return
    // What the others know may lag by as much as their watch does, and a run begins with what is so now.
    const isIn = await inTime(feed.refresh)
    if (!isIn || !reflector.isCurrent()) throw noList()
  }

  return {
    hasFailed: () => failed,
    async join(user, options) {
      const { signal } = options
      users.add(user)
      joining.add(user)
      const feed = feedOf(user)
      const begun = joined(user, feed, options)
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
