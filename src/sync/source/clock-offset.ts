import type { Clock } from '../../ports/clock.ts'

/** The clock of another machine minus the wall clock of this process. */
export interface Offset {
  readonly offsetMs: number
  readonly uncertaintyMs: number
}

export interface OffsetEstimate {
  /** Takes the `Date` header of an answer, with the wall times of this process before the request and after the answer. */
  take(date: string | undefined, sentAt: number, answeredAt: number): void
  /** Undefined until a `Date` header was seen. */
  now(): Offset | undefined
}

/** The header has whole seconds. */
const RESOLUTION_MS = 1_000
/** Clocks drift apart: an interval becomes wider by this share of the time, which is ten times the drift of a bad clock. */
const DRIFT = 1e-3

/**
 * Each answer tells an interval that contains the offset: the answer was made after the request left, within the second of the header. Many
 * answers tell a narrow one. An answer that contradicts the others means that one of the clocks was set, and replaces them.
 */
export function createOffsetEstimate(clock: Clock): OffsetEstimate {
  let known: { low: number; high: number; at: number } | undefined

  function widened(): { low: number; high: number } | undefined {
    if (known === undefined) return undefined
    const drift = (clock.now() - known.at) * DRIFT
    return { low: known.low - drift, high: known.high + drift }
  }

  return {
    take(date, sentAt, answeredAt) {
      const second = Date.parse(date ?? '')
      if (Number.isNaN(second)) return
      const told = { low: second - answeredAt, high: second + RESOLUTION_MS - sentAt }
      const before = widened()
      const low = Math.max(told.low, before?.low ?? -Infinity)
      const high = Math.min(told.high, before?.high ?? Infinity)
      known = { ...(low <= high ? { low, high } : told), at: clock.now() }
    },
    now() {
      const interval = widened()
      if (interval === undefined) return undefined
      const { low, high } = interval
      return { offsetMs: (low + high) / 2, uncertaintyMs: (high - low) / 2 }
    },
  }
}

/** A source's own time that is further back than this is not the time of the change: the annotation is that of an older change. */
const LONGEST_MS = 600_000

/**
 * Returns the time from `at`, an instant of the source, to `seenAt`, an instant of this process. Undefined where the offset is not known, and
 * where the result cannot be: the writer of `at` has another clock than the API server.
 */
export function sinceOf(at: number, seenAt: number, offset: Offset | undefined): number | undefined {
  if (offset === undefined) return undefined
  const ms = seenAt + offset.offsetMs - at
  // The source states the times of conditions in whole seconds.
  if (ms < -RESOLUTION_MS - offset.uncertaintyMs || ms > LONGEST_MS) return undefined
  return Math.max(0, ms)
}
