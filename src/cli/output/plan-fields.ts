import { hasChanges } from '../../plan/has-changes.ts'
import type { PlannedUpgrade } from '../../library/plan.ts'
import type { Plan } from '../../plan/plan.ts'
import { wayOutOf } from '../../report/words/refusals.ts'

/** What a plan has in JSON, wherever it stands: that of an event has no more, so a planned upgrade has its plan alone. */
export function planFields(planned: Plan | PlannedUpgrade): object {
  const { request: _request, holders: _holders, ...plan } = { request: undefined, holders: undefined, ...planned }
  const refusals = plan.refusals.map((refusal) => ({ ...refusal, hint: wayOutOf(refusal).hint }))
  return { changes: hasChanges(plan), ...plan, refusals }
}
