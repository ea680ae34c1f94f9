import type { Clock } from '../../src/ports/clock.ts'
import type { Item, Scheduler } from './scheduler.ts'

/**
 * What one process of sluice runs on: a clock, and a way in for everything that reaches it. It can be killed, after
 * which nothing reaches it any more, and stopped and continued, as by SIGSTOP and SIGCONT.
 */
export interface Host {
  readonly name: string
  readonly clock: Clock
  /** Runs in the process, unless it is dead; later, where it is stopped. */
  deliver(run: () => void): void
  isAlive(): boolean
  kill(): void
  stop(): void
  continue(): void
  /** Deliveries so far, timers among them: the points at which it can be killed. */
  readonly deliveries: number
  /** The wall clock is set. */
  jumpWallClock(byMs: number): void
}

export interface HostOptions {
  name: string
  scheduler: Scheduler
  /** Where its monotonic clock began, and how far its wall clock is off. */
  originMs: number
  wallOffsetMs: number
  /** Asked before each delivery, with how many there were before. */
  onDelivery?(host: Host): void
}

/** Wall time when a seed begins, 2026-01-01. */
export const WALL_EPOCH = Date.UTC(2026, 0, 1)

export function createHost({ name, scheduler, originMs, wallOffsetMs, onDelivery }: HostOptions): Host {
  let alive = true
  let stopped = false
  let deliveries = 0
  let wallShift = wallOffsetMs
  let timersDue: (() => void)[] = []
  let arrived: (() => void)[] = []

  function run(work: () => void): void {
    if (!alive) return
    onDelivery?.(host)
    if (!alive) return
    deliveries += 1
    work()
  }

  const clock: Clock = {
    now: () => scheduler.now() + originMs,
    wallNow: () => WALL_EPOCH + scheduler.now() + wallShift,
    setTimeout(callback, delayMs) {
      const timer: { item: Item; cleared: boolean } = { cleared: false, item: undefined as unknown as Item }
      const fire = (): void => {
        if (!timer.cleared) run(callback)
      }
      timer.item = scheduler.after(delayMs, () => {
        if (timer.cleared || !alive) return
        if (stopped) timersDue.push(fire)
        else fire()
      })
      return timer
    },
    clearTimeout(handle) {
      const timer = handle as { item: Item; cleared: boolean } | undefined
      if (timer === undefined) return
      timer.cleared = true
      scheduler.cancel(timer.item)
    },
  }

  const host: Host = {
    name,
    clock,
    deliver(work) {
      if (!alive) return
      if (stopped) arrived.push(work)
      else run(work)
    },
    isAlive: () => alive,
    kill() {
      alive = false
      timersDue = []
      arrived = []
    },
    stop() {
      stopped = true
    },
    continue() {
      stopped = false
      // As Node's event loop does: first the timers that are due, then what came in, each in a turn of its own.
      const due = [...timersDue, ...arrived]
      timersDue = []
      arrived = []
      for (const work of due) scheduler.after(0, () => host.deliver(work))
    },
    get deliveries() {
      return deliveries
    },
    jumpWallClock(byMs) {
      wallShift += byMs
    },
  }
  return host
}
