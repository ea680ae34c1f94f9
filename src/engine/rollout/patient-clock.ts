import { withinLimit } from '../../kube/within-limit.ts'
import type { Clock } from '../../ports/clock.ts'
import { LONGEST_RETRY_MS } from './poll-delay.ts'

/** A timer that is so late says that this process has stood still, or the machine under it. */
const LATE_MS = 1_000
/** What cannot be caught up with in this time is not waited for: a deadline has to end some time. */
const CATCH_UP_WITHIN_MS = 5_000
/** While nothing can be observed that is waited for longer: as long again as the deadline was, and at least so long. */
const LEAST_PATIENCE_MS = 60_000

interface Timer {
  isCleared: boolean
  handle: unknown
}

/**
 * Clocks whose late timers wait until what happened meanwhile is known. Found by simulation: a process was stopped for longer
 * than a deadline, and when it went on, the deadline came before all that had been observed meanwhile; a pod that had long come up
 * was taken for failed, and rolled back.
 *
 * So do those that are over while what they are about cannot be observed. Found by reading: the API server was away as a deadline
 * came, a pod that had come up in time was taken for failed, and rolled back. And those that judge by what is observed, always: a
 * connection that has been silent for less than a minute and a half is not known to be broken, and told nothing either.
 *
 * What that begins has its time too: found by reading, a pod that was seen to be ready was failed before it had been so for
 * readyFor, and one whose restart time alone can prove before that was over. Each clock for itself: no pod waits for another's.
 * @param catchUp resolves when what is observed is of now
 * @param isCurrent whether it is, as far as is known
 * @returns makes a clock; `judges`: what is over now is judged by what is observed
 */
export function patientClocks(
  clock: Clock,
  catchUp: () => Promise<void>,
  isCurrent: () => boolean,
): (judges?: () => boolean) => Clock {
  let catchingUp: Promise<unknown> | undefined

  /** One for all that are late at once; false where it took longer. */
  function caughtUpWithin(limitMs: number): Promise<boolean> {
    const own = (catchingUp ??= catchUp().finally(() => (catchingUp = undefined)))
    return withinLimit(clock, limitMs, () => own)
  }

  /** For how long a timer that is over now waits for that; undefined where it need not. */
  function patienceMs(delayMs: number, lateMs: number, isJudged: boolean): number | undefined {
    // By a pause between two looks, or two tries, nothing is judged.
    if (isJudged || (delayMs > LONGEST_RETRY_MS && !isCurrent())) return Math.max(delayMs, LEAST_PATIENCE_MS)
    return lateMs > LATE_MS ? CATCH_UP_WITHIN_MS : undefined
  }

  return (judges = () => false) => {
    /** Set while it was caught up, and neither due nor cleared yet. */
    const begun = new Set<Timer>()
    let late: (() => void)[] = []

    function settle(timer: Timer): void {
      if (!begun.delete(timer) || begun.size > 0) return
      const released = late
      late = []
      for (const resolve of released) resolve()
    }

    async function beLate(timer: Timer, callback: () => void, limitMs: number): Promise<void> {
      const isBegun = begun.has(timer)
      const endsAt = clock.now() + limitMs
      while (await caughtUpWithin(endsAt - clock.now())) {
        if (isBegun || begun.size === 0) break
        await new Promise<void>((resolve) => late.push(resolve))
        // Else that has come to its end unseen, too: once more.
        if (timer.isCleared || isCurrent() || clock.now() >= endsAt) break
      }
      if (!timer.isCleared) callback()
      settle(timer)
    }

    return {
      now: () => clock.now(),
      wallNow: () => clock.wallNow(),
      setTimeout(callback, delayMs) {
        const dueAt = clock.now() + delayMs
        const timer: Timer = { isCleared: false, handle: undefined }
        if (catchingUp) begun.add(timer)
        timer.handle = clock.setTimeout(() => {
          const limitMs = patienceMs(delayMs, clock.now() - dueAt, judges())
          if (limitMs !== undefined) return void beLate(timer, callback, limitMs)
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
