import type { Clock } from '../ports/clock.ts'

/** If the event of an answered write is missing for so long, a list looks for it. */
const OVERDUE_MS = 3_000
/** If a caller waits and the watch is silent for so long, a list looks for changes. The time doubles after each list without news. */
const FIRST_LOOK_MS = 5_000
const LONGEST_LOOK_MS = 60_000
/** A working watch delivers the news of a list within this time. */
const GRACE_MS = 2_000
/** The interval of lists in place of a watch that does not deliver. The longer interval applies if no caller waits. */
const POLL_MS = 1_000
const IDLE_POLL_MS = 10_000
/** Lists take at most a tenth of the time, however large the collection is. */
const SHARE = 10
/** One silent watch may be a dead connection. Two silent watches in a row mean that an intermediary holds back the stream. */
const HELD_AFTER = 2
/** A proxy with a buffer passes on some news in time. A sound watch delivers all news, so several in a row are required. */
const SOUND_AFTER = 5

/**
 * Judges whether the watch of a collection delivers. A proxy may hold back the stream, or a connection may die unnoticed; both look like a
 * collection without changes. Only a list beside the watch can tell. One list covers the whole collection, so the number of requests does
 * not grow with its objects.
 */
export interface Delivery {
  /** Reports the begin of a watch. */
  begin(): void
  /** Reports a line; `isNews` if no list and no answer had told it before. */
  onLine(isNews: boolean): void
  /** Reports an answer with a version that the watch has not delivered yet. */
  onAnswer(): void
  /** Reports that the watch has delivered the answered versions. */
  onCaughtUp(): void
  /** Report the begin and the end of a list beside the watch. */
  onLook(): void
  onLooked(told: 'news' | 'nothing' | 'error'): void
  isLookDue(isAwaited: boolean): boolean
  /**
   * Called when it is due. Returns `miss` the first time that a list had news which the watch has not delivered, and `held` the second
   * time, for another watch. News that the watch delivers before any list revert this: the next one, or after `held` five in a row.
   */
  judge(): 'miss' | 'held' | undefined
  /** True while lists replace the watch. */
  isPolling(): boolean
  /** The time until the next check is due. */
  nextMs(): number
  /** The time of the last sign of life of this watch. */
  lastLineAt(): number
}

export function createDelivery(clock: Clock): Delivery {
  let missed = 0
  /** The number of consecutive news that a held watch has delivered before any list. */
  let brought = 0
  /** The number of consecutive lists without news. */
  let vain = 0
  let lineAt = clock.now()
  let lookedAt = Number.NEGATIVE_INFINITY
  let lookTookMs = 0
  let isLooking = false
  let overdueSince: number | undefined
  /** The time since when the watch lacks news of a list. */
  let lacksSince: number | undefined

  const isPolling = (): boolean => missed > 0

  /** The time of the next list, unless a line comes before. */
  function dueAt(isAwaited: boolean): number {
    const awaited = isAwaited || overdueSince !== undefined
    const leastAt = lookedAt + SHARE * lookTookMs
    if (isPolling()) return Math.max(leastAt, lookedAt + (awaited ? POLL_MS : IDLE_POLL_MS))
    const silentSince = Math.max(lineAt, lookedAt)
    const overdueAt = overdueSince === undefined ? Infinity : Math.max(overdueSince, silentSince) + OVERDUE_MS
    const awaitedAt = isAwaited ? silentSince + Math.min(LONGEST_LOOK_MS, FIRST_LOOK_MS * 2 ** vain) : Infinity
    return Math.max(leastAt, Math.min(overdueAt, awaitedAt))
  }

  return {
    begin() {
      lineAt = clock.now()
      lacksSince = undefined
      isLooking = false
    },
    onLine(isNews) {
      lineAt = clock.now()
      lacksSince = undefined
      if (!isNews) return
      vain = 0
      brought += 1
      if (missed < HELD_AFTER || brought >= SOUND_AFTER) missed = 0
    },
    onAnswer() {
      overdueSince ??= clock.now()
      vain = 0
    },
    onCaughtUp: () => (overdueSince = undefined),
    onLook() {
      isLooking = true
      lookedAt = clock.now()
    },
    onLooked(told) {
      isLooking = false
      lookTookMs = clock.now() - lookedAt
      lookedAt = clock.now()
      vain = told === 'news' ? 0 : vain + 1
      if (told !== 'news') return
      brought = 0
      lacksSince ??= clock.now()
    },
    isLookDue: (isAwaited) => !isLooking && clock.now() >= dueAt(isAwaited),
    judge() {
      if (missed >= HELD_AFTER || lacksSince === undefined || clock.now() - lacksSince < GRACE_MS) return undefined
      lacksSince = undefined
      missed += 1
      return missed < HELD_AFTER ? 'miss' : 'held'
    },
    isPolling,
    nextMs() {
      const now = clock.now()
      const judgedAt = lacksSince === undefined ? Infinity : lacksSince + GRACE_MS
      const dueNextAt = isLooking ? Infinity : overdueSince === undefined ? now + FIRST_LOOK_MS : dueAt(false)
      const nextAt = Math.min(judgedAt, dueNextAt, now + (isPolling() ? POLL_MS : FIRST_LOOK_MS))
      return Math.max(1, nextAt - now)
    },
    lastLineAt: () => lineAt,
  }
}
