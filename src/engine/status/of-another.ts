import type { LedgerHeader } from '../../journal/ledger.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { isNamedIn } from '../../workloads/kinds/named-in.ts'

/** Reports whether the pod belongs to another workload of the run than `ref`. */
export function isOfAnother(
  pod: Pick<PodView, 'name' | 'owner'>,
  { workloads }: LedgerHeader,
  ref: WorkloadId,
  kinds: Kinds,
): boolean {
  return !isNamedIn(kinds, ref, pod) && workloads.some((one) => isNamedIn(kinds, one, pod))
}
