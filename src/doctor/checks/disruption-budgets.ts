import { ageOf } from '../ages.ts'
import { type Check, needing } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Budget } from '../objects.ts'
import { SETTLES_MS } from '../settled.ts'

/** Each PodDisruptionBudget allows an eviction. Without that, no node can be drained, and an eviction waits forever. */
export const disruptionBudgets: Check = {
  name: 'disruption-budgets',
  examine: (gathered) =>
    needing(gathered, ['budgets'], ({ budgets }) => budgets.flatMap((budget) => exhausted(budget, gathered.nowAt))),
}

function exhausted({ metadata: { namespace, name: budget }, status = {} }: Budget, nowAt: number): Finding[] {
  const { disruptionsAllowed, currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = status
  if (disruptionsAllowed !== 0 || expectedPods === 0) return []
  // The budget allows no disruption even when all pods are healthy.
  if (desiredHealthy >= expectedPods) return [{ code: 'budget-allows-nothing', namespace, budget, pods: expectedPods }]
  const allowed = status.conditions?.find(({ type }) => type === 'DisruptionAllowed')
  // A rollout uses up a budget for a short time with each pod.
  if ((ageOf(allowed?.lastTransitionTime, nowAt) ?? Infinity) <= SETTLES_MS) return []
  return [{ code: 'budget-used-up', namespace, budget, pods: expectedPods, healthy: currentHealthy, wanted: desiredHealthy }]
}
