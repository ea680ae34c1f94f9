import type { Clock } from '../../ports/clock.ts'

export interface VirtualClock extends Clock {
  /** Runs everything that depends on no timer. */
  settle(): Promise<void>
  /** Fires timers in their order until `done()` returns true; fails if it never does. */
  runUntil(done: () => boolean): Promise<void>
  /** Fires the timers of the next `ms` milliseconds. */
  advance(ms: number): Promise<void>
  /** The number of timers. */
  pending(): number
}

interface Timer {
  at: number
  callback: () => void
}

const TIMERS_UNTIL_NEVER = 1_000

export function createVirtualClock(): VirtualClock {
  // The origin is not 0, so that a confusion of instants and durations shows.
  let now = 1_000_000
  const timers = new Set<Timer>()

  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

  function earliest(until: number): Timer | undefined {
    let found: Timer | undefined
    for (const timer of timers) if (timer.at <= until && (found === undefined || timer.at < found.at)) found = timer
    return found
  }

  async function fire(timer: Timer): Promise<void> {
    timers.delete(timer)
    now = Math.max(now, timer.at)
    timer.callback()
    await settle()
  }

  return {
    now: () => now,
    wallNow: () => now,
    setTimeout(callback, delayMs) {
      const timer = { at: now + delayMs, callback }
      timers.add(timer)
      return timer
    },
    clearTimeout: (handle) => timers.delete(handle as Timer),
    settle,
    async runUntil(done) {
      await settle()
      for (let fired = 0; !done(); fired += 1) {
        const timer = earliest(Infinity)
        if (timer === undefined || fired > TIMERS_UNTIL_NEVER) throw new Error('what was waited for never came')
        await fire(timer)
      }
    },
    async advance(ms) {
      const until = now + ms
      await settle()
      for (let timer = earliest(until); timer !== undefined; timer = earliest(until)) await fire(timer)
      now = until
    },
    pending: () => timers.size,
  }
}
