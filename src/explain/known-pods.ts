import type { Service } from '../endpoints/objects.ts'
import { isFinished } from '../endpoints/pod-membership.ts'
import { selects } from '../endpoints/selectors.ts'
import type { Pod } from '../endpoints/objects.ts'
import type { StaleAddress } from '../reasons/explain-reasons.ts'

export interface Known {
  isAsked(uid: string): boolean
  /** Why an address of this pod is stale in a Service that does not have it; undefined where that is not known, or not asked. */
  whyStale(pod: { uid?: string; name?: string; kind?: string } | undefined): StaleAddress | undefined
}

/**
 * Which pods are asked about, and what became of others. `isWhole`: the Service itself is asked about, and so is each of its addresses.
 * `pods`: with `hasAllPods` those of the whole namespace, and whatever is missing there is gone.
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
