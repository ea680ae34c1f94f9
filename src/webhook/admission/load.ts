import { performance } from 'node:perf_hooks'
import type { Clock } from '../../ports/clock.ts'

export interface LoadOptions {
  clock: Pick<Clock, 'now'>
  /** A process without idle time for this long has more requests than it can answer. */
  busyMs: number
  /** The time that the event loop of this process has waited for events since its start. */
  idleMs?(): number
}

/** An event loop with a backlog polls for events and waits for none. */
const SOME_IDLE_MS = 1
/**
 * A process that gets little processor time does not wait for events either. It can answer a few requests all the same, unless it has been at
 * it for twice as long.
 */
const FEW = 4
const MUCH_BUSIER = 2

/**
 * Tells when the server has more requests than it can answer in time. To be asked with each request. Requests of a backlog wait in the
 * kernel, where this process cannot count them. But an event loop that never waits has a backlog.
 */
export function watchLoad({ clock, busyMs, idleMs = idleOfProcess }: LoadOptions): () => boolean {
  let idleUntil = { at: clock.now(), totalMs: idleMs(), requests: 0 }
  return () => {
    const [at, totalMs] = [clock.now(), idleMs()]
    if (totalMs >= idleUntil.totalMs + SOME_IDLE_MS) idleUntil = { at, totalMs, requests: 0 }
    idleUntil.requests += 1
    const ownMs = at - idleUntil.at
    return ownMs > MUCH_BUSIER * busyMs || (ownMs > busyMs && idleUntil.requests > FEW)
  }
}

function idleOfProcess(): number {
  return performance.eventLoopUtilization().idle
}
