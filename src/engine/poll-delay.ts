const SHORTEST_MS = 20
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
