import type { Refusal, WorkloadRef } from '../plan/plan.ts'
import { displayName } from '../pods/workload-id.ts'

/** With it, the controller leaves the pods alone when the template changes. */
export const ON_DELETE = 'OnDelete'

export function updateStrategyRefusal(ref: WorkloadRef, present: string): Refusal {
  const patch = JSON.stringify({ spec: { updateStrategy: { type: ON_DELETE, rollingUpdate: null } } })
  return {
    code: 'update-strategy',
    message:
      `${displayName(ref)} has the update strategy ${present}: its controller would delete and recreate the pods, ` +
      'without a drain, as soon as the template changes',
    hint: 'Change it. From then on a change of the template waits: the controller replaces a pod only after something deleted it.',
    command: `kubectl -n ${ref.namespace} patch ${displayName(ref)} --type merge -p '${patch}'`,
  }
}
