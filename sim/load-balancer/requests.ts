import type { Random } from '../../src/ports/random.ts'

/** The requests that a target gets, as far as they matter here: how many are under way, and when the last one ends. */
export interface TrafficModel {
  /** Requests under way on a routable target: up to twice as many, this on average. */
  concurrent: number
  /** Milliseconds of the longest request. */
  longestMs: number
  /** Milliseconds after a drain in which new requests still arrive. */
  lagMs: number
}

/**
 * No event and no timer for each request: how long they last is drawn when the target stops being routable, and looked up
 * when somebody asks. A million seeds could not pay for more.
 */
export interface Requests {
  /** How many are under way at this moment. */
  inFlight(at: number): number
  /** When the last one ends, or ended; null while new ones arrive without end. */
  emptyAt(): number | null
  /** New requests arrive from now on, or no more. */
  turn(routable: boolean, at: number): void
  /** A request that somebody really makes, for a generator of traffic. Returns how to end it. */
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
      // Those under way end within the longest one's time; of as many more, each arrives within the lag.
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
