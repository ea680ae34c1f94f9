import type { ActResult } from '../acts/result.ts'
import { type Happening, happenings } from './happenings.ts'
import type { View, ViewDeps } from './view.ts'

/** A request fails a moment after it was sent, so a second is shown once this much of the next second has passed. */
const SETTLED_MS = 500

/** The view without a terminal: a line for each event. */
export function createLines({ out, colors }: ViewDeps): View {
  let toldUntil = 0

  function tell(result: ActResult, until: number): void {
    for (const happening of happenings(result)) {
      if (happening.at >= toldUntil && happening.at < until) out.write(`${line(happening)}\n`)
    }
    toldUntil = until
  }

  function line({ at, text, isFailure }: Happening): string {
    const time = (at / 1_000).toFixed(1).padStart(6)
    return `${time} s  ${isFailure ? colors.red(text) : text}`
  }

  return {
    update(result) {
      const settled = result.endedAt - result.startedAt - SETTLED_MS
      tell(result, Math.max(toldUntil, Math.floor(settled / 1_000) * 1_000))
    },
    end: (result) => tell(result, Number.POSITIVE_INFINITY),
    close() {},
  }
}
