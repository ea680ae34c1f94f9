import type { LedgerHeader } from '../../journal/ledger.ts'
import type { WorkloadRef } from '../../plan/plan.ts'
import type { PodView } from '../../pods/glossary.ts'
import { isNamedIn } from '../ledgers/of-others.ts'

/** A run may be of several workloads: the pod is of another of them than `ref`. */
export function isOfAnother(
  pod: Pick<PodView, 'name' | 'owner'>,
  { workloads }: LedgerHeader,
  ref: Pick<WorkloadRef, 'kind' | 'name'>,
): boolean {
  return !isNamedIn(ref, pod) && workloads.some((one) => isNamedIn(one, pod))
}
