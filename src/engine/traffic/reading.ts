import type { Json, TargetObservation } from '../../../adapters/contract.ts'
import type { JournalTarget, TrafficReading } from '../../pods/glossary.ts'
import type { EntryReading } from '../../reasons/fields.ts'
import type { Reason } from '../../reasons/reason.ts'

/* What the load balancers say of a pod's targets, as one thing. */

/** An entry that is not there takes no requests, as a drained one: where that it is not there can be believed. */
export function isOut({ admin, routable }: TargetObservation): boolean {
  return !routable && (admin === 'draining' || admin === 'out' || admin === 'absent')
}

/** Requests under way on all of them: what one has counted is not hidden by another that cannot count. */
export function inFlightOf(readings: readonly Pick<TargetObservation, 'inFlight'>[]): number | null {
  const counted = readings.reduce((sum, { inFlight }) => sum + (inFlight ?? 0), 0)
  return counted === 0 && readings.some(({ inFlight }) => inFlight === null) ? null : counted
}

export function isGone({ admin, moved }: TargetObservation): boolean {
  return admin === 'absent' && !moved
}

/** One reading of a pod's targets. */
export interface Known {
  reading: TargetObservation
  /** It was out, by an answer or by what it said itself, before it was not there any more. */
  wasOut: boolean
}

/**
 * All targets of a pod as one. That an entry is not there is no proof of a drain that nobody has answered: found by reading, a load
 * balancer that came up had an empty list for a moment, and the pod was patched in rotation. Then it is `removed`, and not out.
 */
export function together(all: readonly Known[]): Pick<TrafficReading, 'state' | 'removed'> {
  if (all.some(({ reading }) => reading.admin === 'unknown')) return { state: 'unknown' }
  const removed = all.every(({ reading }) => isGone(reading)) ? { removed: true } : {}
  if (all.every(({ reading, wasOut }) => isOut(reading) && (reading.admin !== 'absent' || wasOut)))
    return { state: 'out', ...removed }
  return { state: all.every(({ reading }) => reading.admin === 'in') ? 'in' : 'mixed', ...removed }
}

/** What the engine itself adds to an observation that is not the load balancer's own. */
export type Observed = TargetObservation & { by?: Reason }

export function entryReading({ loadBalancer, target }: JournalTarget, observed: Observed): EntryReading {
  const { admin, inFlight, detail, by } = observed
  return { loadBalancer, target, admin, inFlight, ...(detail ? { said: detail } : {}), ...(by ? { by } : {}) }
}

/** Equal states give equal text, whatever the order of their keys. */
export function canonical(value: Json | undefined): string {
  return JSON.stringify(value, (_, part: Json) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
