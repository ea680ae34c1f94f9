import type { Clock } from '../ports/clock.ts'

/** A timer that is so late says that this process has stood still, or the machine under it. */
const LATE_MS = 1_000
/** In which what happened meanwhile comes in. */
const CATCH_UP_MS = 2_000

/**
 * A clock whose timers wait a moment longer where they are late. Found by simulation: a process was stopped for longer than a
 * deadline, and when it went on, the deadline came before all that had been observed meanwhile; a pod that had long come up was
 * taken for failed, and rolled back.
 */
export function patientClock(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    wallNow: () => clock.wallNow(),
    setTimeout(callback, delayMs) {
      const dueAt = clock.now() + delayMs
      const timer = {
        handle: clock.setTimeout(() => {
          if (clock.now() - dueAt <= LATE_MS) callback()
          else timer.handle = clock.setTimeout(callback, CATCH_UP_MS)
        }, delayMs),
      }
      return timer
    },
    clearTimeout: (timer) => clock.clearTimeout((timer as { handle: unknown } | undefined)?.handle),
  }
}
