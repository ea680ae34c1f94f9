import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

/** Resolves after `delayMs`, or as soon as `signal` fires. The result is true if the whole time has passed. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve(false)
    const timer = clock.setTimeout(() => end(true), delayMs)
    const onAbort = () => end(false)
    function end(whole: boolean): void {
      clock.clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      resolve(whole)
    }
    signal?.addEventListener('abort', onAbort)
  })
}

const FIRST_MS = 250
const LONGEST_MS = 5_000

/**
 * The backoff doubles with each consecutive failure (from 1). It is random between half and the whole, so that clients do not retry at
 * once.
 */
export function backoffMs(random: Random, failures: number): number {
  const wholeMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1))
  return wholeMs * (0.5 + random.next() / 2)
}
