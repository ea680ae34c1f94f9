import type { Clock } from '../../ports/clock.ts'

/** The first changes go at once; a Service that changes all the time is written at this rate, each time with its latest state. */
const MOST = 20
const EACH_MS = 100

export interface TokenBucket {
  /** Takes a token. Returns 0, or the time until there is one. */
  take(): number
}

export function createTokenBucket(clock: Clock): TokenBucket {
  let tokens = MOST
  let filledAt = clock.now()
  return {
    take() {
      const now = clock.now()
      tokens = Math.min(MOST, tokens + (now - filledAt) / EACH_MS)
      filledAt = now
      if (tokens < 1) return (1 - tokens) * EACH_MS
      tokens -= 1
      return 0
    },
  }
}
