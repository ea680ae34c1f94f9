import { FLAPS_WITHIN_MS, HEARTBEAT_WITHIN_MS, RESTARTED_WITHIN_MS, UNDO_WITHIN_MS } from './limits.ts'
import type { ObserverFinding, ObserverFindingCode, ObserverSnapshot } from './told.ts'

/** The findings that hold now. */
export interface Holding {
  /** A finding without `about` is about a moment, and holds for the time that its rule looks back. */
  begin(finding: ObserverFinding, about: string | undefined): void
  end(code: ObserverFindingCode, about: string): void
  all(): ObserverSnapshot['findings']
}

/** The time in milliseconds for which a finding about a moment holds. */
const MOMENTS: Partial<Record<ObserverFindingCode, number>> = {
  'writers-undo-each-other': UNDO_WITHIN_MS,
  'pods-lost-with-heartbeat': HEARTBEAT_WITHIN_MS,
  'pod-flaps': FLAPS_WITHIN_MS,
  'restarted-in-rotation': RESTARTED_WITHIN_MS,
  'entry-flaps': FLAPS_WITHIN_MS,
}

export function createHolding(now: () => number, later: (dueAt: number, work: () => void) => void): Holding {
  const held = new Map<string, ObserverSnapshot['findings'][number]>()
  let moments = 0

  return {
    begin(finding, about) {
      const key = `${finding.code} ${about ?? `moment ${moments++}`}`
      held.set(key, { finding, beganAt: held.get(key)?.beganAt ?? now() })
      if (about === undefined) later(now() + (MOMENTS[finding.code] ?? 0), () => held.delete(key))
    },
    end: (code, about) => void held.delete(`${code} ${about}`),
    all: () => [...held.values()],
  }
}
