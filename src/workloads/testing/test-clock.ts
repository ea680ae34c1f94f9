import type { Clock } from '../../ports/clock.ts'

export interface TestClock extends Clock {
  /** Runs the due timers in their order, with a turn of the event loop after each. */
  advance(byMs: number): Promise<void>
}

interface Timer {
  at: number
  callback: () => void
}

/** A clock that stands still until it is advanced. */
export function createTestClock(): TestClock {
  let now = 0
  const timers = new Set<Timer>()
  return {
    now: () => now,
    wallNow: () => now,
    setTimeout(callback, delayMs) {
      const timer = { at: now + delayMs, callback }
      timers.add(timer)
      return timer
    },
    clearTimeout: (timer) => void timers.delete(timer as Timer),
    async advance(byMs) {
      const until = now + byMs
      for (;;) {
        await turn()
        const [next] = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
        if (!next) break
        timers.delete(next)
        now = Math.max(now, next.at)
        next.callback()
      }
      now = until
    },
  }
}

/** Resolves after everything that depends only on promises has run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
