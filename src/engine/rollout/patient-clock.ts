import { withinLimit } from '../../kube/within-limit.ts'
import type { Clock } from '../../ports/clock.ts'
import { LONGEST_RETRY_MS } from './poll-delay.ts'

/** A timer that is so late says that this process has stood still, or the machine under it. */
const LATE_MS = 1_000
/** What cannot be caught up with in this time is not waited for. */
const CATCH_UP_WITHIN_MS = 5_000
/** What nobody can observe is waited for as long again as the timer was, and at least so long: it has to end some time. */
const LEAST_PATIENCE_MS = 60_000

/** What is observed of all. */
export interface Sight {
  /** It is of now, as far as is known. */
  isCurrent(): boolean
  /** Resolves when all that has happened by now is observed: not one for another that has begun before. */
  catchUp(): Promise<void>
}

/** The timers of a clock by which something is judged, and not only looked at, or tried, once more. */
export interface Deadlines {
  /** Is the timer one that is being made at this moment? */
  isBegun(): boolean
  /** Resolves when what they judge by is observed as it is now. */
  look(): Promise<void>
}

interface Timer {
  isCleared: boolean
  handle: unknown
}

interface LateTimer {
  isCatchingUp: boolean
  /** Begun meanwhile, and neither due nor cleared yet. */
  begun: Set<Timer>
  release(): void
}

/**
 * Clocks whose late timers wait until what happened meanwhile is known. Found by simulation: a process was stopped for longer
 * than a deadline, and when it went on, the deadline came before all that had been observed meanwhile; a pod that had long come up
 * was taken for failed, and rolled back.
 *
 * So do those that are over while nothing can be observed, but for the pauses between two looks, or tries, behind which nothing is
 * judged. Found by reading: the API server was away as a deadline came, a pod that had come up in time was taken for failed, and
 * rolled back; or it was put back 0.2 s after it was ready again, and not after readyFor.
 *
 * A deadline always looks first. Found by a reviewer: a connection was silent as it came, which nobody knows to be broken for a
 * minute and a half.
 *
 * What that begins has its time too: found by reading, a pod that was seen to be ready was failed before it had been so for
 * readyFor, and one whose restart time alone can prove before that was over. No other timer waits for that, nor any for a deadline:
 * found by a reviewer, one of 20 s ended after 320.
 */
export function patientClocks(clock: Clock, { isCurrent, catchUp }: Sight): (deadlines: Deadlines) => Clock {
  return (deadlines) => {
    const late = new Set<LateTimer>()

    function settle(timer: Timer): void {
      for (const one of late) if (one.begun.delete(timer) && one.begun.size === 0) one.release()
    }

    async function beLate(timer: Timer, run: () => void, limitMs: number, known: () => Promise<unknown>): Promise<void> {
      const own: LateTimer = { isCatchingUp: true, begun: new Set(), release: () => {} }
      late.add(own)
      const endsAt = clock.now() + limitMs
      while (await withinLimit(clock, endsAt - clock.now(), known)) {
        if (own.begun.size === 0) break
        own.isCatchingUp = false
        await new Promise<void>((resolve) => (own.release = resolve))
        // Else that has come to its end unseen, too: once more.
        if (timer.isCleared || isCurrent() || clock.now() >= endsAt) break
        own.isCatchingUp = true
      }
      late.delete(own)
      run()
    }

    return {
      now: () => clock.now(),
      wallNow: () => clock.wallNow(),
      setTimeout(callback, delayMs) {
        const dueAt = clock.now() + delayMs
        const isDeadline = deadlines.isBegun()
        const timer: Timer = { isCleared: false, handle: undefined }
        if (!isDeadline) for (const { isCatchingUp, begun } of late) if (isCatchingUp) begun.add(timer)
        const run = (): void => {
          if (!timer.isCleared) callback()
          settle(timer)
        }
        timer.handle = clock.setTimeout(() => {
          const isLate = clock.now() - dueAt > LATE_MS
          const isBlind = !isCurrent() && (isDeadline || delayMs > LONGEST_RETRY_MS)
          if (!isLate && !isBlind && !isDeadline) return run()
          const limitMs = isBlind || isDeadline ? Math.max(delayMs, LEAST_PATIENCE_MS) : CATCH_UP_WITHIN_MS
          void beLate(timer, run, limitMs, isLate || isBlind ? catchUp : () => deadlines.look())
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
