import type { LeaseHolder } from '../engine/run.ts'
import type { Plan } from '../plan/plan.ts'
import { displayName } from '../pods/workload-id.ts'
import { imageWords } from '../report/words/images.ts'
import { RequestError } from './request/request-error.ts'
import type { UpgradeRequest } from './request/upgrade-request.ts'

/** A planned upgrade together with its request. Plain JSON: a program can store it, show it, and pass it to `upgrade` later. */
export interface PlannedUpgrade extends Plan {
  request: UpgradeRequest
  /** The holders of Leases that the run would take: processes at work, or processes that were killed. */
  holders: readonly LeaseHolder[]
}

/** True for a plan, even an incomplete one: a request has neither of these fields. */
export function isPlan(given: unknown): given is PlannedUpgrade {
  return typeof given === 'object' && given !== null && ('request' in given || 'pods' in given)
}

/** Throws a RequestError if the plan is not the plan of an undo; carrying it out would upgrade. */
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
