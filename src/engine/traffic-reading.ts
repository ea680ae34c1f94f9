import type { Json, TargetObservation } from '../../adapters/contract.ts'
import type { JournalTarget, TrafficReading } from '../pods/glossary.ts'

/* What the load balancers say of a pod's targets, as one thing. */

/** An entry that is not there takes no requests, as a drained one. */
export function isOut({ admin, routable }: TargetObservation): boolean {
  return !routable && (admin === 'draining' || admin === 'out' || admin === 'absent')
}

/** All targets of a pod as one. */
export function together(readings: readonly TargetObservation[]): Pick<TrafficReading, 'state' | 'inFlight' | 'removed'> {
  const counts = readings.map(({ inFlight }) => inFlight)
  const inFlight = counts.includes(null) ? null : counts.reduce<number>((sum, count) => sum + count!, 0)
  if (readings.some(({ admin }) => admin === 'unknown')) return { state: 'unknown', inFlight }
  if (readings.every(({ admin, moved }) => admin === 'absent' && !moved)) return { state: 'out', inFlight, removed: true }
  if (readings.every((reading) => isOut(reading))) return { state: 'out', inFlight }
  return { state: readings.every(({ admin }) => admin === 'in') ? 'in' : 'mixed', inFlight }
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
