/**
 * The time that the engine uses. The clock is a port, so that a simulation can supply its own. Deadlines use the monotonic clock only. Wall
 * time is for display and for Lease records, whose times other machines compare only with each other.
 */
export interface Clock {
  /** Milliseconds on a monotonic clock; its origin is arbitrary. */
  now(): number
  /** Wall time in milliseconds since 1970, for display and records; never for a decision. */
  wallNow(): number
  /** Node fires a timer with a `delayMs` above 2^31-1 at once, so callers limit the delay. */
  setTimeout(callback: () => void, delayMs: number): unknown
  clearTimeout(handle: unknown): void
}
