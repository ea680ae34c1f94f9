import type { LeaseHolder } from '../engine/run.ts'
import type { Plan } from '../plan/plan.ts'
import type { UpgradeRequest } from './request/upgrade-request.ts'

/** What an upgrade would do, and what it was asked for. Plain JSON: it can be kept, shown to a person, and passed to `upgrade` later. */
export interface PlannedUpgrade extends Plan {
  request: UpgradeRequest
  /** Who has a Lease that the run would take: a run that is at work, or one that was killed there. */
  holders: readonly LeaseHolder[]
}

/** What `upgrade` was given is a plan. */
export function isPlan(given: PlannedUpgrade | UpgradeRequest): given is PlannedUpgrade {
  return 'request' in given && 'pods' in given
}
