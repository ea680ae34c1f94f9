import { z } from 'zod'
import type { PlannedUpgrade } from '../plan.ts'
import { assertShape } from './parsed.ts'

const list = z.array(z.looseObject({}))

/** The fields that are read of a plan that a program passes back. A stored plan may be truncated, or come from another program. */
const Plan = z.looseObject({
  request: z.looseObject({}),
  namespace: z.string(),
  workloads: list,
  images: list,
  templates: list,
  pods: z.array(z.looseObject({ uid: z.string(), name: z.string(), action: z.string(), images: list, targets: list })),
  window: z.number(),
  guarantees: list,
  refusals: list,
} satisfies Partial<Record<keyof PlannedUpgrade, z.ZodType>>)

/** Throws a RequestError that names the missing fields of the plan. */
export function assertPlan(given: PlannedUpgrade): void {
  assertShape(z.strictObject({ plan: Plan }), { plan: given }, 'plan')
}
