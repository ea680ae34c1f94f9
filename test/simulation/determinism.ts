import { createHook } from 'node:async_hooks'

/** The asynchronous resources of promises and of the scheduler. Any other resource is a source of time or order outside the seed. */
const ALLOWED = new Set(['PROMISE', 'TickObject', 'Microtask', 'Immediate'])

export interface Guard {
  /** Enables the guard: a real timer, I/O or `Math.random` throws, and `Date.now` is virtual. */
  on(now: () => number): void
  off(): void
}

/**
 * Finds sources of time or order that a linter misses, such as `AbortSignal.timeout` and the timers of packages, by their asynchronous
 * resources. Its cost is negligible.
 */
export function createGuard(onViolation: (what: string) => void): Guard {
  const realNow = Date.now
  const realRandom = Math.random
  const realPerformanceNow = performance.now
  const hook = createHook({
    // Promises are allowed, and outnumber all other resources. An older Node tracks them anyway.
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
