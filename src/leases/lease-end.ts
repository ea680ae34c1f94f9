import type { Clock } from '../ports/clock.ts'
import { LEASE_DURATION_MS } from './lease.ts'

/** The end of a Lease that is written now, on both clocks. */
export interface LeaseEnd {
  at: number
  wallAt: number
}

export function leaseEnd(clock: Clock): LeaseEnd {
  return { at: clock.now() + LEASE_DURATION_MS, wallAt: clock.wallNow() + LEASE_DURATION_MS }
}

/**
 * The monotonic clock of Linux stops while the machine sleeps, so the wall clock counts too. A wall clock that is set forward ends the
 * right too soon, at the cost of one renewal and one look.
 */
export function isOver({ at, wallAt }: LeaseEnd, clock: Clock, forMs = 0): boolean {
  return clock.now() + forMs >= at || clock.wallNow() + forMs >= wallAt
}
