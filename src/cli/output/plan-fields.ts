import { hasChanges } from '../../plan/has-changes.ts'
import type { PlannedUpgrade } from '../../library/plan.ts'
import type { Plan } from '../../plan/plan.ts'
import { wayOutOf } from '../../report/words/refusals.ts'

/** Returns the fields of a plan in JSON, wherever it appears. A planned upgrade has the fields of its plan alone, as an event does. */
export function planFields(planned: Plan | PlannedUpgrade): object {
  const { request: _request, holders: _holders, ...plan } = { request: undefined, holders: undefined, ...planned }
  const refusals = plan.refusals.map((refusal) => ({ ...refusal, hint: wayOutOf(refusal).hint }))
  return { changes: hasChanges(plan), ...plan, refusals }
}
