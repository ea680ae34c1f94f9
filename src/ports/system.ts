import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The monotonic clock of the system (CLOCK_MONOTONIC), which stops while the machine sleeps. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS)),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
}

export const systemRandom: Random = { next: () => Math.random() }
