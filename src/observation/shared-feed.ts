import type { KubeClient } from '../kube/client.ts'
import { createReflector, type ObjectRecord, ReflectorError } from '../kube/reflector.ts'
import { unlessAborted } from '../kube/unless-aborted.ts'
import { withinLimit } from '../kube/within-limit.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Feed, FeedRequest, FeedUser } from './feed.ts'

/** The time limit for a current list for a user that joins; after it, joining fails. */
export const JOINED_WITHIN_MS = 60_000

export interface FeedPorts {
  client: KubeClient
  clock: Clock
  random: Random
}

export interface JoinOptions {
  signal: AbortSignal | undefined
  /** The rest of this user's time, if another user began the list, with a time limit of its own. */
  leftMs: number
  /** The error of the feed before this one. */
  before: Error | undefined
}

/** One list and watch with its users. */
export interface SharedFeed<R extends ObjectRecord, C, I> {
  /** Rejects if listing is forbidden or fails until the time limit, and with the reason of the signal, which removes the user again. */
  join(user: FeedUser<R, C>, options: JoinOptions): Promise<Feed<R, I>>
  /** True if the first list failed. No user has received an object then, and a user with time left needs another feed. */
  hasFailed(): boolean
}

/** Starts with the first user. `onUnused` is called once: after the last user has left, or if the first list failed. */
export function createSharedFeed<R extends ObjectRecord, C, I>(
  { client, clock, random }: FeedPorts,
  { createIndex, ...collection }: FeedRequest<R, C, I>,
  onUnused: () => void,
): SharedFeed<R, C, I> {
  const users = new Set<FeedUser<R, C>>()
  /** The users whose `join` is under way. `join` rejects with a lasting error, so `onError` is not called for it. */
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

  /** Passes an event to one user. An exception of this user must not keep the event from the others. */
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
      // The feed is unregistered before any user learns of the error, because a user that opens the feed again must not get this one.
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
    // The list of the first user began after the call, so it is current.
    if (isFirst) return
    // The records of a running feed lag by as much as its watch does, and a run needs the current state at its start.
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
        // If the signal came first, the later error of the list is ignored.
        begun.catch(() => {})
        await leave(user)
        throw error
      } finally {
        joining.delete(user)
      }
    },
  }
}
