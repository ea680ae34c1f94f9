import type { Plan } from './plan.ts'

/** Reports whether a run of this plan would change anything. */
export function hasChanges(plan: Plan): boolean {
  return (
    plan.pods.some(({ action }) => action === 'upgrade' || action === 'adopt') ||
    plan.templates.some(({ change }) => change.length > 0) ||
    plan.leftOut !== undefined
  )
}
