const SHORTEST_MS = 10
const LONGEST_MS = 500
/** The share by which a look may come late. */
const SHARE = 0.05

/**
 * The time until the next look at requests in flight, in milliseconds. It grows with the wait: a short drain is not drawn out, and a long
 * one is not asked for hundreds of times a minute.
 */
export function pollDelayMs(waitedMs: number): number {
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, waitedMs * SHARE))
}

const FIRST_RETRY_MS = 250
export const LONGEST_RETRY_MS = 5_000
/** The share is larger than that of a look, since each try is a call or a write. */
const RETRY_SHARE = 0.1

/**
 * The time until the next try of a refused or unanswered request, in milliseconds. A restore deadline of one minute has about 40 tries this
 * way, in place of 228 with a fixed 250 ms.
 */
export function retryDelayMs(waitedMs: number): number {
  return Math.min(LONGEST_RETRY_MS, Math.max(FIRST_RETRY_MS, waitedMs * RETRY_SHARE))
}
