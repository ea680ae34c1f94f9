import { ageOf } from '../ages.ts'
import { type Check, needing } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Budget } from '../objects.ts'
import { SETTLES_MS } from '../settled.ts'

/** Each budget lets some pod go: else no node can be drained, and an eviction waits for good. */
export const disruptionBudgets: Check = {
  name: 'disruption-budgets',
  examine: (gathered) =>
    needing(gathered, ['budgets'], ({ budgets }) => budgets.flatMap((budget) => exhausted(budget, gathered.nowAt))),
}

function exhausted({ metadata: { namespace, name: budget }, status = {} }: Budget, nowAt: number): Finding[] {
  const { disruptionsAllowed, currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = status
  if (disruptionsAllowed !== 0 || expectedPods === 0) return []
  // With all pods healthy it allows nothing either.
  if (desiredHealthy >= expectedPods) return [{ code: 'budget-allows-nothing', namespace, budget, pods: expectedPods }]
  const allowed = status.conditions?.find(({ type }) => type === 'DisruptionAllowed')
  // One pod after another goes and comes back in each rollout.
  if ((ageOf(allowed?.lastTransitionTime, nowAt) ?? Infinity) <= SETTLES_MS) return []
  return [{ code: 'budget-used-up', namespace, budget, pods: expectedPods, healthy: currentHealthy, wanted: desiredHealthy }]
}
