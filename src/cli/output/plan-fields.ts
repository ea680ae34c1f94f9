import { hasChanges } from '../../plan/has-changes.ts'
import type { Plan } from '../../plan/plan.ts'
import { wayOutOf } from '../../report/words/refusals.ts'

/** What a plan has in JSON, wherever it stands. */
export function planFields(plan: Plan): object {
  const refusals = plan.refusals.map((refusal) => ({ ...refusal, hint: wayOutOf(refusal).hint }))
  return { changes: hasChanges(plan), ...plan, refusals }
}
