import type { Refusal, WorkloadRef } from '../plan/plan.ts'
import { displayName } from '../pods/workload-id.ts'

/** The update strategy under which a controller leaves the pods alone when the template changes. */
export const ON_DELETE = 'OnDelete'

export function updateStrategyRefusal(ref: WorkloadRef, present: string): Refusal {
  const patch = JSON.stringify({ spec: { updateStrategy: { type: ON_DELETE, rollingUpdate: null } } })
  return {
    code: 'update-strategy',
    workload: displayName(ref),
    strategy: present,
    change: {
      command: 'kubectl',
      namespace: ref.namespace,
      args: ['patch', displayName(ref), '--type', 'merge', '-p', patch],
    },
  }
}
