import { withinLimit } from '../../kube/within-limit.ts'
import type { Clock } from '../../ports/clock.ts'
import { LONGEST_RETRY_MS } from './poll-delay.ts'

/** A timer that is this late shows that the process, or its machine, has stood still. */
const LATE_MS = 1_000
/** The limit for catching up after that. */
const CATCH_UP_WITHIN_MS = 5_000
/** The least time for which a blind process waits on, in milliseconds. Otherwise it waits as long again as the timer was. */
const LEAST_PATIENCE_MS = 60_000

/** The observation that the timers depend on. */
export interface Sight {
  /** Reports whether the observation is current, as far as is known. */
  isCurrent(): boolean
  /** Resolves once all events until now are observed. An earlier call does not count. */
  catchUp(): Promise<void>
}

/** The timers that decide, in contrast to those that only look or try again. */
export interface Deadlines {
  /** Reports whether the timer that is being made is a deadline. */
  isBegun(): boolean
  /** Resolves once the facts that the deadline decides on are observed anew. */
  look(): Promise<void>
}

interface Timer {
  isCleared: boolean
  handle: unknown
}

interface LateTimer {
  isCatchingUp: boolean
  /** The timers that began meanwhile, and are neither due nor cleared. */
  begun: Set<Timer>
  release(): void
}

/**
 * Makes clocks whose decisions wait for the observation. A timer that is late waits until the events in between are known: a stopped
 * process would otherwise act on its deadline before it sees that the pod came up. A timer that ends while nothing can be observed also
 * waits, except for short pauses before a look or a try.
 * A deadline always looks first, since a silent connection is not known to be broken for up to a minute and a half. Timers that begin
 * during the catch-up get their time as well, so that a pod can complete its readyFor. Timers that begin later, and deadlines, are not
 * waited for.
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
        // The timers that began meanwhile have ended unseen as well, so the catch-up is repeated.
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
