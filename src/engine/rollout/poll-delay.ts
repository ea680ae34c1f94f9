const SHORTEST_MS = 10
const LONGEST_MS = 500
/** What a wait may be longer than it had to be. */
const SHARE = 0.05

/**
 * Until the next look at what is still in flight: short while the wait is, so that a drain of a third of a second is
 * not drawn out, and long while it is, so that nothing is asked hundreds of times a minute.
 */
export function pollDelayMs(waitedMs: number): number {
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, waitedMs * SHARE))
}

const FIRST_RETRY_MS = 250
export const LONGEST_RETRY_MS = 5_000
/** More than of a look: each try is a call, or a write. */
const RETRY_SHARE = 0.1

/**
 * Until something is asked for again that was refused, or got no answer. Found by simulation: every 250 ms, an entry that an
 * operator has in maintenance was written to 228 times in the minute of the restore deadline; so it is 40 times.
 */
export function retryDelayMs(waitedMs: number): number {
  return Math.min(LONGEST_RETRY_MS, Math.max(FIRST_RETRY_MS, waitedMs * RETRY_SHARE))
}
