import { createHook } from 'node:async_hooks'

/** What promises and the scheduler itself make; anything else is a source of time or order that no seed decides. */
const ALLOWED = new Set(['PROMISE', 'TickObject', 'Microtask', 'Immediate'])

export interface Guard {
  /** From here on a real timer, I/O or `Math.random` throws, and `Date.now` is virtual. */
  on(now: () => number): void
  off(): void
}

/**
 * Catches what a lint list misses, `AbortSignal.timeout` and timers of packages among it: by the asynchronous resource
 * that it makes. Its cost is within the noise.
 */
export function createGuard(onViolation: (what: string) => void): Guard {
  const realNow = Date.now
  const realRandom = Math.random
  const realPerformanceNow = performance.now
  const hook = createHook({
    // Allowed, and far more than all else. An older Node tracks them all the same.
    trackPromises: false,
    init(_id, type) {
      if (!ALLOWED.has(type)) onViolation(`a ${type} was made in simulated code: ${new Error('here').stack ?? ''}`)
    },
  })
  return {
    on(now) {
      hook.enable()
      Date.now = now
      performance.now = now
      Math.random = () => {
        onViolation(`Math.random was called in simulated code: ${new Error('here').stack ?? ''}`)
        return 0.5
      }
    },
    off() {
      hook.disable()
      Date.now = realNow
      performance.now = realPerformanceNow
      Math.random = realRandom
    },
  }
}
