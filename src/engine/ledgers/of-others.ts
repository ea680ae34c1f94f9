import type { LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { GonePod } from '../../pods/heir.ts'
import { isSameWorkload, type WorkloadId } from '../../pods/workload-id.ts'
import { isHeirIn } from '../../workloads/kinds/heirs.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { isNamedIn } from '../../workloads/kinds/named-in.ts'
import { isPod } from '../../workloads/kinds/pod.ts'

/** As it was when its targets were recorded. */
export function podOf({ uid, pod, address, node, owner }: LedgerEntry): GonePod {
  return { uid, name: pod, ...(address && { ip: address }), ...(node && { node }), ...(owner && { owner }) }
}

interface Own {
  kinds: Kinds
  refs: readonly WorkloadId[]
  /** Those that are there. */
  pods(): Iterable<{ pod: PodView }>
}

/**
 * A run may be of several workloads, and another go on with some of them alone: the entry is of one that is none of `refs`, and
 * is settled by whoever has its Lease. Found by reading: it was put back in the middle of the upgrade of the pod in its place, by
 * a run of another workload; and one that could not see that pod waited for it until the deadline.
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
  // A ReplicaSet without a Deployment makes pods under ever new names: of which run the one that is gone is, the next one tells.
  const lone = refs.filter(isPod)
  if (lone.length > 0 && Array.from(pods()).some(({ pod }) => isHeir(gone, pod) && lone.some((ref) => isOf(ref, pod))))
    return false
  // Somebody may have made a ReplicaSet by hand, under any name, and given it to a Deployment: that could be any of the run's.
  return workloads.some((one) => isOf(one, gone)) || !workloads.every(isOurs)
}
