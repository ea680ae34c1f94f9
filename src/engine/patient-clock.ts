import { withinLimit } from '../kube/within-limit.ts'
import type { Clock } from '../ports/clock.ts'

/** A timer that is so late says that this process has stood still, or the machine under it. */
const LATE_MS = 1_000
/** What cannot be caught up with in this time is not waited for: a deadline has to end some time. */
const CATCH_UP_WITHIN_MS = 5_000

/**
 * A clock whose late timers wait until what happened meanwhile is known. Found by simulation: a process was stopped for longer
 * than a deadline, and when it went on, the deadline came before all that had been observed meanwhile; a pod that had long come up
 * was taken for failed, and rolled back. And in a turn of its own then, after what that has made due at once: found by reading, a
 * pod that was seen to be ready was failed before it could be put back.
 * @param catchUp resolves when what is observed is of now
 */
export function patientClock(clock: Clock, catchUp: () => Promise<unknown>): Clock {
  let catchingUp: Promise<unknown> | undefined

  /** One for all that are late at once. */
  function caughtUp(): Promise<unknown> {
    catchingUp ??= withinLimit(clock, CATCH_UP_WITHIN_MS, catchUp).finally(() => (catchingUp = undefined))
    return catchingUp
  }

  return {
    now: () => clock.now(),
    wallNow: () => clock.wallNow(),
    setTimeout(callback, delayMs) {
      const dueAt = clock.now() + delayMs
      const timer = { isCleared: false, handle: undefined as unknown }
      async function fireLate(): Promise<void> {
        await caughtUp()
        if (!timer.isCleared) timer.handle = clock.setTimeout(callback, 0)
      }
      timer.handle = clock.setTimeout(() => (clock.now() - dueAt > LATE_MS ? void fireLate() : callback()), delayMs)
      return timer
    },
    clearTimeout(handle) {
      const timer = handle as { isCleared: boolean; handle: unknown } | undefined
      if (timer === undefined) return
      timer.isCleared = true
      clock.clearTimeout(timer.handle)
    },
  }
}
