import type { Clock } from '../ports/clock.ts'

/** A secret that is fetched on demand, kept while it is valid, and dropped when the server refuses it. */
export interface Renewable<T extends object> {
  get(): Promise<T>
  accepted(value: T): void
  /** Reports a refusal. Returns true if the next `get()` may return another value. */
  refused(value: T): boolean
}

export interface RenewableOptions<T extends object> {
  clock: Clock
  fetch: () => Promise<T>
  isFresh: (value: T, ageMs: number) => boolean
  /** A value that is no longer fresh stays in use if fetching a new one fails, until the server refuses it. */
  outlivesFailure?: boolean
}

/** A new secret that was never accepted is kept at least for this time, so that a plugin is not run for every request. */
const REFUSED_AT_ONCE_MS = 10_000

/** Fetches must not overlap; the caller of `get()` ensures that. */
export function createRenewable<T extends object>(options: RenewableOptions<T>): Renewable<T> {
  const { clock, fetch, isFresh, outlivesFailure = false } = options
  let held: { value: T; fetchedAt: number; accepted: boolean } | undefined

  return {
    async get() {
      if (held !== undefined && isFresh(held.value, clock.now() - held.fetchedAt)) return held.value
      try {
        const value = await fetch()
        held = { value, fetchedAt: clock.now(), accepted: false }
      } catch (error) {
        if (!outlivesFailure || held === undefined) throw error
      }
      return held.value
    },
    accepted(value) {
      if (held?.value === value) held.accepted = true
    },
    refused(value) {
      if (held?.value !== value) return true
      if (!held.accepted && clock.now() - held.fetchedAt < REFUSED_AT_ONCE_MS) return false
      held = undefined
      return true
    },
  }
}
