import type { LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import type { PodView } from '../../pods/glossary.ts'
import { isHeir } from '../../pods/heir.ts'
import type { WorkloadRef } from '../../plan/plan.ts'
import { isNamedAfter } from './named-after.ts'

type Ref = Pick<WorkloadRef, 'kind' | 'name'>

/** The pod is of the workload, as far as its own words tell: by name, since that may have been made again, or be gone. */
export function isNamedIn({ kind, name }: { kind: string; name: string }, pod: Pick<PodView, 'name' | 'owner'>): boolean {
  // Also one that a ReplicaSet without a Deployment has made.
  if (kind === 'Pod') return name === pod.name
  return (kind === pod.owner?.kind && name === pod.owner.name) || (kind === 'Deployment' && isNamedAfter(name, pod))
}

/** As it was when its targets were recorded. */
export function podOf({ uid, pod, address, node, owner }: LedgerEntry): Pick<PodView, 'uid' | 'name' | 'ip' | 'node' | 'owner'> {
  return { uid, name: pod, ...(address && { ip: address }), ...(node && { node }), ...(owner && { owner }) }
}

/**
 * A run may be of several workloads, and another go on with some of them alone: the entry is of one that is none of `refs`, and
 * is settled by whoever has its Lease. Found by reading: it was put back in the middle of the upgrade of the pod in its place, by
 * a run of another workload; and one that could not see that pod waited for it until the deadline.
 * @param pods those that are there
 */
export function isOfOthers(
  entry: LedgerEntry,
  { workloads }: Pick<LedgerHeader, 'workloads'>,
  refs: readonly Ref[],
  pods: () => Iterable<{ pod: PodView }>,
): boolean {
  const gone = podOf(entry)
  const isOurs = (one: { kind: string; name: string }): boolean =>
    refs.some(({ kind, name }) => kind === one.kind && name === one.name)
  if (refs.some((ref) => isNamedIn(ref, gone))) return false
  // A ReplicaSet without a Deployment makes pods under ever new names: of which run the one that is gone is, the next one tells.
  const lone = refs.filter(({ kind }) => kind === 'Pod')
  if (lone.length > 0 && Array.from(pods()).some(({ pod }) => isHeir(gone, pod) && lone.some((ref) => isNamedIn(ref, pod))))
    return false
  // Somebody may have made a ReplicaSet by hand, under any name, and given it to a Deployment: that could be any of the run's.
  return workloads.some((one) => isNamedIn(one, gone)) || !workloads.every(isOurs)
}
