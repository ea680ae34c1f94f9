import type { PodView } from '../../pods/glossary.ts'
import { isOwnedBy, isSameKind, kindOfOwner, type WorkloadKey } from '../../pods/workload-id.ts'
import type { Kinds } from './kinds.ts'
import { isPod } from './pod.ts'

type OwnedPod = Pick<PodView, 'name' | 'owner'>

/** The pod is of the workload, as far as its own words tell: by name, since that may have been made again, or be gone. */
export function isNamedIn(kinds: Pick<Kinds, 'kindOf'>, workload: WorkloadKey, pod: OwnedPod): boolean {
  // Also a pod that was made by what its kind makes, with nothing above that.
  if (isPod(workload)) return workload.name === pod.name
  return isOwnedBy(pod, workload) || isNamedAfter(kinds, workload, pod)
}

/** What owned the pod may be gone with it, where the workload keeps few of them: then by the name of that. */
export function isNamedAfter(kinds: Pick<Kinds, 'kindOf'>, workload: WorkloadKey, { owner }: Pick<PodView, 'owner'>): boolean {
  const mechanism = kinds.kindOf(workload)?.mechanism
  if (owner === undefined || mechanism?.type !== 'pods-alone') return false
  const { through } = mechanism
  return isSameKind(through, kindOfOwner(owner)) && through.workloadName(owner.name) === workload.name
}
