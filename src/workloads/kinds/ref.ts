import type { KindName } from '../../pods/workload-id.ts'
import type { WorkloadRef } from '../../plan/plan.ts'

/** The reference to a workload of this kind. */
export function refOf({ group, version, kind, plural }: KindName, name: string, namespace: string): WorkloadRef {
  return { group, version, kind, plural, name, namespace }
}
