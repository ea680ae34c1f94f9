/**
 * The time that the engine may use. It is a port, so that a simulation can give its own.
 * Deadlines are measured on the monotonic clock only; wall time is for display and for Lease records,
 * which other machines compare with nothing but themselves.
 */
export interface Clock {
  /** Milliseconds on a monotonic clock; its origin is arbitrary. */
  now(): number
  /** Wall time in milliseconds since 1970, for display and records; never for a decision. */
  wallNow(): number
  /** `delayMs` above 2^31-1 would fire at once in Node, so callers clamp. */
  setTimeout(callback: () => void, delayMs: number): unknown
  clearTimeout(handle: unknown): void
}
