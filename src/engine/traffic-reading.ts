import type { Json, TargetObservation } from '../../adapters/contract.ts'
import type { JournalTarget, TrafficReading } from '../pods/glossary.ts'

/* What the load balancers say of a pod's targets, as one thing. */

/** An entry that is not there takes no requests, as a drained one. */
export function isOut({ admin, routable }: TargetObservation): boolean {
  return !routable && (admin === 'draining' || admin === 'out' || admin === 'absent')
}

/** Requests under way on all of them: what one has counted is not hidden by another that cannot count. */
export function inFlightOf(readings: readonly Pick<TargetObservation, 'inFlight'>[]): number | null {
  const counted = readings.reduce((sum, { inFlight }) => sum + (inFlight ?? 0), 0)
  return counted === 0 && readings.some(({ inFlight }) => inFlight === null) ? null : counted
}

/** All targets of a pod as one. */
export function together(readings: readonly TargetObservation[]): Pick<TrafficReading, 'state' | 'removed'> {
  if (readings.some(({ admin }) => admin === 'unknown')) return { state: 'unknown' }
  if (readings.every(({ admin, moved }) => admin === 'absent' && !moved)) return { state: 'out', removed: true }
  if (readings.every((reading) => isOut(reading))) return { state: 'out' }
  return { state: readings.every(({ admin }) => admin === 'in') ? 'in' : 'mixed' }
}

export function describeTarget({ loadBalancer, target }: JournalTarget, { admin, inFlight, detail }: TargetObservation): string {
  const flight = inFlight === null ? 'in flight unknown' : `${inFlight} in flight`
  return `${loadBalancer}/${target} ${admin}, ${flight}${detail ? ` (${detail})` : ''}`
}

/** Equal states give equal text, whatever the order of their keys. */
export function canonical(value: Json | undefined): string {
  return JSON.stringify(value, (_, part: Json) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
