import type { Service } from '../endpoints/objects.ts'
import { isFinished } from '../endpoints/pod-membership.ts'
import { selects } from '../endpoints/selectors.ts'
import type { Pod } from '../endpoints/objects.ts'
import type { StaleAddress } from '../reasons/explain-reasons.ts'

export interface Known {
  isAsked(uid: string): boolean
  /**
   * The reason why the address of this pod does not belong to the Service; undefined where it is unknown, or the pod is not requested.
   */
  whyStale(pod: { uid?: string; name?: string; kind?: string } | undefined): StaleAddress | undefined
}

/**
 * Looks up the requested pods, and the fate of others. `isWhole` means that the request is about the Service, and so about each of its
 * addresses. With `hasAllPods`, `pods` are those of the whole namespace, and a missing pod is gone.
 */
export function knownPods(
  service: Service,
  {
    pods,
    hasAllPods,
    asked,
    isWhole,
  }: { pods: readonly Pod[]; hasAllPods: boolean; asked: ReadonlySet<string>; isWhole: boolean },
): Known {
  const byUid = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  const names = new Map(pods.map((pod) => [pod.metadata.name, pod]))

  function isMeant(uid: string | undefined, name: string | undefined): boolean {
    const inItsPlace = name === undefined ? undefined : names.get(name)
    return isWhole || asked.has(uid ?? '') || (inItsPlace !== undefined && asked.has(inItsPlace.metadata.uid))
  }

  return {
    isAsked: (uid) => asked.has(uid),
    whyStale(reference) {
      const { uid, name } = reference ?? {}
      if (!isMeant(uid, name)) return undefined
      if (uid === undefined) return 'no-pod-named'
      const pod = byUid.get(uid)
      if (pod !== undefined) {
        if (!selects(service, pod)) return 'not-selected'
        return isFinished(pod) ? 'pod-finished' : 'not-made'
      }
      if (name !== undefined && names.has(name)) return 'pod-replaced'
      return hasAllPods ? 'pod-gone' : undefined
    },
  }
}
