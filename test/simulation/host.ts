import type { Clock } from '../../src/ports/clock.ts'
import type { Item, Scheduler } from './scheduler.ts'

/**
 * The host of one process of sluice: a clock, and a path for everything that reaches the process. It can be killed, after which nothing
 * reaches it, and stopped and continued, as by SIGSTOP and SIGCONT.
 */
export interface Host {
  readonly name: string
  readonly clock: Clock
  /** Runs a function in the process, unless it is dead. A stopped process runs it later. */
  deliver(run: () => void): void
  isAlive(): boolean
  kill(): void
  stop(): void
  continue(): void
  /** The number of deliveries so far, including timers. The process can be killed at each. */
  readonly deliveries: number
  /** Moves the wall clock. */
  jumpWallClock(byMs: number): void
}

export interface HostOptions {
  name: string
  scheduler: Scheduler
  /** The start of its monotonic clock, and the offset of its wall clock. */
  originMs: number
  wallOffsetMs: number
  /** Called before each delivery. `host.deliveries` is the number of deliveries before. */
  onDelivery?(host: Host): void
}

/** The wall time at the start of a seed, 2026-01-01. */
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
      // The order is that of Node's event loop: first the due timers, then the arrived work, each in a turn of its own.
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
