import type { Plan } from './plan.ts'

/** True where a run would do something. */
export function hasChanges(plan: Plan): boolean {
  return (
    plan.pods.some(({ action }) => action === 'upgrade' || action === 'adopt') ||
    plan.templates.some(({ change }) => change.length > 0) ||
    plan.leftOut !== undefined
  )
}
