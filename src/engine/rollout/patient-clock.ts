import { withinLimit } from '../../kube/within-limit.ts'
import type { Clock } from '../../ports/clock.ts'

/** A timer that is so late says that this process has stood still, or the machine under it. */
const LATE_MS = 1_000
/** What cannot be caught up with in this time is not waited for: a deadline has to end some time. */
const CATCH_UP_WITHIN_MS = 5_000

interface Timer {
  isCleared: boolean
  handle: unknown
}

/**
 * Clocks whose late timers wait until what happened meanwhile is known. Found by simulation: a process was stopped for longer
 * than a deadline, and when it went on, the deadline came before all that had been observed meanwhile; a pod that had long come up
 * was taken for failed, and rolled back.
 *
 * What that begins has its time too: found by reading, a pod that was seen to be ready was failed before it had been so for
 * readyFor, and one whose restart time alone can prove before that was over. Each clock for itself: no pod waits for another's.
 * @param catchUp resolves when what is observed is of now
 */
export function patientClocks(clock: Clock, catchUp: () => Promise<void>): () => Clock {
  let catchingUp: Promise<unknown> | undefined

  /** One for all that are late at once. */
  function caughtUp(): Promise<unknown> {
    catchingUp ??= withinLimit(clock, CATCH_UP_WITHIN_MS, catchUp).finally(() => (catchingUp = undefined))
    return catchingUp
  }

  return () => {
    /** Set while it was caught up, and neither due nor cleared yet. */
    const begun = new Set<Timer>()
    let late: (() => void)[] = []

    function settle(timer: Timer): void {
      if (!begun.delete(timer) || begun.size > 0) return
      const released = late
      late = []
      for (const resolve of released) resolve()
    }

    async function beLate(timer: Timer, callback: () => void): Promise<void> {
      settle(timer)
      await caughtUp()
      if (begun.size > 0) await new Promise<void>((resolve) => late.push(resolve))
      if (!timer.isCleared) callback()
    }

    return {
      now: () => clock.now(),
      wallNow: () => clock.wallNow(),
      setTimeout(callback, delayMs) {
        const dueAt = clock.now() + delayMs
        const timer: Timer = { isCleared: false, handle: undefined }
        if (catchingUp) begun.add(timer)
        timer.handle = clock.setTimeout(() => {
          if (clock.now() - dueAt > LATE_MS) return void beLate(timer, callback)
          callback()
          settle(timer)
        }, delayMs)
        return timer
      },
      clearTimeout(handle) {
        const timer = handle as Timer | undefined
        if (timer === undefined) return
        timer.isCleared = true
        clock.clearTimeout(timer.handle)
        settle(timer)
      },
    }
  }
}
