import type { LeaseHolder } from '../engine/run.ts'
import type { Plan } from '../plan/plan.ts'
import { displayName } from '../pods/workload-id.ts'
import { imageWords } from '../report/words/images.ts'
import { RequestError } from './request/request-error.ts'
import type { UpgradeRequest } from './request/upgrade-request.ts'

/** What an upgrade would do, and what it was asked for. Plain JSON: it can be kept, shown to a person, and passed to `upgrade` later. */
export interface PlannedUpgrade extends Plan {
  request: UpgradeRequest
  /** Who has a Lease that the run would take: a run that is at work, or one that was killed there. */
  holders: readonly LeaseHolder[]
}

/** What `upgrade` was given is a plan, or was one: a request has neither of these fields. */
export function isPlan(given: unknown): given is PlannedUpgrade {
  return typeof given === 'object' && given !== null && ('request' in given || 'pods' in given)
}

/** Throws a RequestError for a plan that takes no run back: an undo of it would upgrade. */
export function assertUndoes({ request, workloads, images }: PlannedUpgrade): void {
  if (request.undo !== undefined) return
  const what = workloads.map(displayName).join(', ') || 'pods'
  const to = images.length === 0 ? 'the template' : imageWords(images)
  throw new RequestError([
    {
      field: 'undo',
      message: `the plan is one of an upgrade: ${what} to ${to}`,
      hint: "pass it to 'upgrade', or plan with 'undo: {}'",
    },
  ])
}
