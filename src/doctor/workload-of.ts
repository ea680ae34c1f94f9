import { isFinished } from '../endpoints/pod-membership.ts'
import { displayName, kindOfOwner, ownerId } from '../pods/workload-id.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import type { Pod } from './objects.ts'

/** The display name of the workload of a pod, such as `statefulset/web`, derived from the pod alone. */
export function workloadOf({ metadata: { name, ownerReferences = [] } }: Pod, kinds: Kinds): string {
  const owner = ownerReferences.find(({ controller }) => controller === true)
  if (owner === undefined) return `pod/${name}`
  const kind = kinds.ofOwner(owner)
  if (kind === undefined) return displayName(ownerId(owner))
  const { mechanism } = kind
  const isMade = mechanism?.type === 'pods-alone' && mechanism.through.kind === kindOfOwner(owner).kind
  return displayName({ ...kind, name: isMade ? mechanism.through.workloadName(owner.name) : owner.name })
}

/** The pod can get requests, now or soon. */
export function isAlive(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && !isFinished(pod)
}
