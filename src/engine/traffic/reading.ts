import type { Json, TargetObservation } from '../../../adapters/contract.ts'
import type { JournalTarget, TrafficReading } from '../../pods/glossary.ts'
import type { EntryReading } from '../../reasons/fields.ts'
import type { Reason } from '../../reasons/reason.ts'

/* The readings of a pod's targets, joined into one state. */

/** Reports whether the entry gets no requests. A missing entry gets none, where its absence can be believed. */
export function isOut({ admin, routable }: TargetObservation): boolean {
  return !routable && (admin === 'draining' || admin === 'out' || admin === 'absent')
}

/** The requests in flight on all targets. A target that cannot count does not hide the count of another. */
export function inFlightOf(readings: readonly Pick<TargetObservation, 'inFlight'>[]): number | null {
  const counted = readings.reduce((sum, { inFlight }) => sum + (inFlight ?? 0), 0)
  return counted === 0 && readings.some(({ inFlight }) => inFlight === null) ? null : counted
}

export function isGone({ admin, moved }: TargetObservation): boolean {
  return admin === 'absent' && !moved
}

/** One reading of a target of the pod. */
export interface Known {
  reading: TargetObservation
  /** The entry was out, by an answer or a reading, before it was missing. */
  wasOut: boolean
}

/**
 * Joins the readings of all targets. A missing entry proves no drain without an answer, since a starting load balancer can have an empty
 * list. Such a target is `removed`, and not out.
 */
export function together(all: readonly Known[]): Pick<TrafficReading, 'state' | 'removed'> {
  if (all.some(({ reading }) => reading.admin === 'unknown')) return { state: 'unknown' }
  const removed = all.every(({ reading }) => isGone(reading)) ? { removed: true } : {}
  if (all.every(({ reading, wasOut }) => isOut(reading) && (reading.admin !== 'absent' || wasOut)))
    return { state: 'out', ...removed }
  return { state: all.every(({ reading }) => reading.admin === 'in') ? 'in' : 'mixed', ...removed }
}

/** An observation, with the reason that the engine adds where the load balancer does not tell the state. */
export type Observed = TargetObservation & { by?: Reason }

export function entryReading({ loadBalancer, target }: JournalTarget, observed: Observed): EntryReading {
  const { admin, inFlight, detail, by } = observed
  return { loadBalancer, target, admin, inFlight, ...(detail ? { said: detail } : {}), ...(by ? { by } : {}) }
}

/** The text of a value. Equal values have the same text, whatever the order of their keys. */
export function canonical(value: Json | undefined): string {
  return JSON.stringify(value, (_, part: Json) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
