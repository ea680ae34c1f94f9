import { type Check, needing } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Budget } from '../objects.ts'

/** Each budget lets some pod go: else no node can be drained, and an eviction waits for good. */
export const disruptionBudgets: Check = {
  name: 'disruption-budgets',
  examine: (gathered) => needing(gathered, ['budgets'], ({ budgets }) => budgets.flatMap(exhausted)),
}

function exhausted({ metadata: { namespace, name: budget }, status = {} }: Budget): Finding[] {
  const { disruptionsAllowed, currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = status
  if (disruptionsAllowed !== 0 || expectedPods === 0) return []
  // With all pods healthy it allows nothing either.
  if (desiredHealthy >= expectedPods) return [{ code: 'budget-allows-nothing', namespace, budget, pods: expectedPods }]
  return [{ code: 'budget-used-up', namespace, budget, pods: expectedPods, healthy: currentHealthy, wanted: desiredHealthy }]
}
