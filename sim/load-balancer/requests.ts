import type { Random } from '../../src/ports/random.ts'

/** The requests of a target: only their number and the end of the last one matter here. */
export interface TrafficModel {
  /** The average number of requests under way on a routable target. The number is at most twice the average. */
  concurrent: number
  /** The duration of the longest request, in milliseconds. */
  longestMs: number
  /** The time after a drain in which new requests still arrive, in milliseconds. */
  lagMs: number
}

/**
 * The requests under way on one target. A request has no event and no timer: its duration is drawn when the target stops being routable,
 * and read on demand. Events for each request would be too slow for a million seeds.
 */
export interface Requests {
  /** Returns the number of requests under way at a moment. */
  inFlight(at: number): number
  /** Returns the time when the last request ends or ended. Null while new requests arrive without end. */
  emptyAt(): number | null
  /** Starts or ends the arrival of new requests. */
  turn(routable: boolean, at: number): void
  /** Begins a real request of a generator of traffic. Returns the function that ends it. */
  begin(): () => void
}

export function createRequests(model: TrafficModel | undefined, random: Random): Requests {
  let steady = 0
  let ending: { from: number; until: number }[] = []
  let begun = 0
  let endless = false

  function draw(): number {
    return model === undefined ? 0 : Math.round(random.next() * 2 * model.concurrent)
  }

  return {
    inFlight(at) {
      return begun + steady + ending.filter(({ from, until }) => from <= at && at < until).length
    },
    emptyAt: () => (endless ? null : ending.reduce((last, { until }) => Math.max(last, until), 0)),
    turn(routable, at) {
      if (routable === endless || model === undefined) return
      endless = routable
      if (routable) {
        ending = ending.filter(({ until }) => until > at)
        steady = draw()
        return
      }
      // Requests under way end within the longest duration. About as many late requests arrive within the lag.
      const late = model.lagMs === 0 ? 0 : draw()
      for (let index = 0; index < steady + late; index++) {
        const from = index < steady ? at : at + random.next() * model.lagMs
        ending.push({ from, until: from + random.next() * model.longestMs })
      }
      steady = 0
    },
    begin() {
      begun += 1
      return () => {
        begun -= 1
      }
    },
  }
}
