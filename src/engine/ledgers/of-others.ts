import type { LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { GonePod } from '../../pods/heir.ts'
import { isSameWorkload, type WorkloadId } from '../../pods/workload-id.ts'
import { isHeirIn } from '../../workloads/kinds/heirs.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { isNamedIn } from '../../workloads/kinds/named-in.ts'
import { isPod } from '../../workloads/kinds/pod.ts'

/** The pod of an entry, as it was when its targets were recorded. */
export function podOf({ uid, pod, address, node, owner }: LedgerEntry): GonePod {
  return { uid, name: pod, ...(address && { ip: address }), ...(node && { node }), ...(owner && { owner }) }
}

interface Own {
  kinds: Kinds
  refs: readonly WorkloadId[]
  /** The pods that exist. */
  pods(): Iterable<{ pod: PodView }>
}

/**
 * Reports whether the entry belongs to a workload outside `refs`, in a run of several workloads. The owner of that Lease settles the entry:
 * it may be upgrading the replacement now.
 */
export function isOfOthers(
  entry: LedgerEntry,
  { workloads }: Pick<LedgerHeader, 'workloads'>,
  { kinds, refs, pods }: Own,
): boolean {
  const gone = podOf(entry)
  const isHeir = isHeirIn(kinds)
  const isOurs = (one: WorkloadId): boolean => refs.some((ref) => isSameWorkload(ref, one))
  const isOf = (ref: WorkloadId, pod: GonePod): boolean => isNamedIn(kinds, ref, pod)
  if (refs.some((ref) => isOf(ref, gone))) return false
  // A ReplicaSet without a Deployment makes pods under new names. The replacement shows to which run the gone pod belongs.
  const lone = refs.filter(isPod)
  if (lone.length > 0 && Array.from(pods()).some(({ pod }) => isHeir(gone, pod) && lone.some((ref) => isOf(ref, pod))))
    return false
  // A ReplicaSet that was made by hand and adopted by a Deployment can have any name, so the pod may belong to any workload of the run.
  return workloads.some((one) => isOf(one, gone)) || !workloads.every(isOurs)
}
