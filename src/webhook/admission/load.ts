import type { Clock } from '../../ports/clock.ts'

export interface LoadOptions {
  clock: Clock
  /** The largest number of requests whose bodies are in memory. */
  mostUnderWay: number
  /** Without a turn for timers in this time, the process has more to do than it can. */
  busyMs: number
}

/** Tells when the server has more requests than it can answer in time. */
export interface Load {
  /** Counts one request. Returns a function for its end; undefined where the request must be shed. */
  enter(): (() => void) | undefined
  stop(): void
}

const TICK_MS = 50

/**
 * While the event loop is busy with the requests that have arrived, no timer fires. So the time since the last tick is how long the last
 * of these requests has waited at most.
 */
export function watchLoad({ clock, mostUnderWay, busyMs }: LoadOptions): Load {
  let underWay = 0
  let tickedAt = clock.now()
  let timer: unknown
  function tick(): void {
    tickedAt = clock.now()
    timer = clock.setTimeout(tick, TICK_MS)
  }
  tick()
  return {
    enter() {
      if (underWay >= mostUnderWay || clock.now() - tickedAt - TICK_MS > busyMs) return undefined
      underWay++
      return () => {
        underWay--
      }
    },
    stop: () => clock.clearTimeout(timer),
  }
}
