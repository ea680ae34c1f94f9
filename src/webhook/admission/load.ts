import { performance } from 'node:perf_hooks'
import type { Clock } from '../../ports/clock.ts'

export interface LoadOptions {
  clock: Pick<Clock, 'now'>
  /** The largest number of requests whose bodies are in memory. */
  mostUnderWay: number
  /** A process without idle time for this long has more requests than it can answer. */
  busyMs: number
  /** The time that the event loop of this process has waited for events since its start. */
  idleMs?(): number
}

/** Tells when the server has more requests than it can answer in time. */
export interface Load {
  /** Counts one request. Returns a function for its end; undefined where the request must be shed. */
  enter(): (() => void) | undefined
}

/** An event loop with a backlog polls for events and waits for none. */
const SOME_IDLE_MS = 1

/**
 * Requests of a backlog wait in the kernel, where this process cannot count them. But an event loop that never waits has a backlog.
 */
export function watchLoad({ clock, mostUnderWay, busyMs, idleMs = idleOfProcess }: LoadOptions): Load {
  let underWay = 0
  let idleUntil = { at: clock.now(), totalMs: idleMs() }
  function isBusy(): boolean {
    const [at, totalMs] = [clock.now(), idleMs()]
    if (totalMs >= idleUntil.totalMs + SOME_IDLE_MS) idleUntil = { at, totalMs }
    return at - idleUntil.at > busyMs
  }
  return {
    enter() {
      if (isBusy() || underWay >= mostUnderWay) return undefined
      underWay++
      return () => {
        underWay--
      }
    },
  }
}

function idleOfProcess(): number {
  return performance.eventLoopUtilization().idle
}
