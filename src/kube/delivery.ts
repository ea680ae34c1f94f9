import type { Clock } from '../ports/clock.ts'

/** An answered write whose event is not there after so long a silence is looked for. */
const OVERDUE_MS = 3_000
/** What somebody waits for is looked for after so long a silence; twice as long after each list that told nothing new. */
const FIRST_LOOK_MS = 5_000
const LONGEST_LOOK_MS = 60_000
/** A watch that works brings within this what a list has told. */
const GRACE_MS = 2_000
/** In place of a watch that brings nothing, and where nobody waits for anything. */
const POLL_MS = 1_000
const IDLE_POLL_MS = 10_000
/** Lists take at most this share of the time, however large the collection is. */
const SHARE = 10
/** One watch may be of a connection that died. Two in a row are held by something on the way. */
const HELD_AFTER = 2
/** A proxy that passes on what fills a buffer brings some news in time. A sound watch brings all of them. */
const SOUND_AFTER = 5

/**
 * Does the watch of a collection deliver? A proxy may hold what the server sends, and a connection may die unnoticed: either is
 * a silence, as of a collection in which nothing happens. Only a list beside the watch tells these apart. One list serves the
 * whole collection, so that the number of requests does not grow with its objects.
 */
export interface Delivery {
  /** A watch begins. */
  begin(): void
  /** A line has come; `isNews` where no list and no answer had told it before. */
  onLine(isNews: boolean): void
  /** An answer has brought a version that the watch is still to bring. */
  onAnswer(): void
  /** What was answered has come. */
  onCaughtUp(): void
  /** A list beside the watch has begun, and has come to its end. */
  onLook(): void
  onLooked(told: 'news' | 'nothing' | 'error'): void
  isLookDue(isAwaited: boolean): boolean
  /**
   * Asked when it is due: `miss` the first time that a list told what the watch has left out, `held` the second time, of another
   * watch. News that the watch brings before any list take it back: the next, and after `held` five in a row.
   */
  judge(): 'miss' | 'held' | undefined
  /** Lists stand in for the watch. */
  isPolling(): boolean
  /** Until it is to be asked again. */
  nextMs(): number
  /** The last sign of life of this watch. */
  lastLineAt(): number
}

export function createDelivery(clock: Clock): Delivery {
  let missed = 0
  /** News in a row that a held watch has brought before any list. */
  let brought = 0
  /** Lists in a row that told nothing new. */
  let vain = 0
  let lineAt = clock.now()
  let lookedAt = Number.NEGATIVE_INFINITY
  let lookTookMs = 0
  let isLooking = false
  let overdueSince: number | undefined
  /** Since when the watch lacks what a list has told. */
  let lacksSince: number | undefined

  const isPolling = (): boolean => missed > 0

  /** Of the next list, if nothing comes before. */
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
