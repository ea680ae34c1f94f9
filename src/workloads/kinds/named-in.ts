import type { PodView } from '../../pods/glossary.ts'
import { isOwnedBy, isSameKind, kindOfOwner, type WorkloadKey } from '../../pods/workload-id.ts'
import type { Kinds } from './kinds.ts'
import { isPod } from './pod.ts'

type OwnedPod = Pick<PodView, 'name' | 'owner'>

/**
 * True if the pod belongs to the workload by its owner's name. The uid is not compared, because the owner may be gone or may have been
 * created again.
 */
export function isNamedIn(kinds: Pick<Kinds, 'kindOf'>, workload: WorkloadKey, pod: OwnedPod): boolean {
  // This includes a pod whose owner, such as a ReplicaSet, has no workload above it.
  if (isPod(workload)) return workload.name === pod.name
  return isOwnedBy(pod, workload) || isNamedAfter(kinds, workload, pod)
}

/** Compares by the name of the intermediate owner, which may be gone already, because workloads keep only a few of these objects. */
export function isNamedAfter(kinds: Pick<Kinds, 'kindOf'>, workload: WorkloadKey, { owner }: Pick<PodView, 'owner'>): boolean {
  const mechanism = kinds.kindOf(workload)?.mechanism
  if (owner === undefined || mechanism?.type !== 'pods-alone') return false
  const { through } = mechanism
  return isSameKind(through, kindOfOwner(owner)) && through.workloadName(owner.name) === workload.name
}
