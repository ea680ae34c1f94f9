import { isFinished } from '../endpoints/pod-membership.ts'
import type { ClusterState, ObjectState } from './cluster-state.ts'
import type { Context } from './context.ts'
import type { SeenAddress, SeenPod } from './events.ts'
import type { ObserverFindingOf } from './told.ts'

type Why = ObserverFindingOf<'stale-address'>['why']

/** Finds addresses of pods that are gone, or have another address by now, once they have been so for longer than the grace. */
export interface StaleAddresses {
  /** Looks at the addresses of the pod in all endpoints, as they are now. */
  review(pod: string): void
}

/** `knowsPods`: a pod that is not known is gone. Where that is not so, nothing is found, and the pod has to be reviewed again. */
export function createStaleAddresses(
  context: Context,
  cluster: string,
  state: ClusterState,
  knowsPods: () => boolean,
): StaleAddresses {
  /** By object, pod and address. */
  const suspects = new Map<string, { since: number }>()
  /** By the UID of the pod, so that what is no longer there is forgotten. */
  const ofPod = new Map<string, Set<string>>()

  function review(pod: string): void {
    if (!knowsPods()) return
    const known = state.pods.get(pod)?.pod
    const found = new Set<string>()
    for (const object of state.objectsWith(pod)) {
      for (const address of object.byPod.get(pod) ?? []) {
        if (staleBecause(known, address) === undefined) continue
        const key = `${object.seen.uid}/${pod}/${address.address}`
        found.add(key)
        if (!suspects.has(key)) suspect(key, object, pod, address)
      }
    }
    for (const key of ofPod.get(pod) ?? []) if (!found.has(key)) clear(key)
    if (found.size > 0) ofPod.set(pod, found)
    else ofPod.delete(pod)
  }

  function clear(key: string): void {
    if (suspects.delete(key)) context.over('stale-address', `${cluster}/${key}`)
  }

  function suspect(key: string, object: ObjectState, pod: string, address: SeenAddress): void {
    const since = context.now()
    const own = { since }
    suspects.set(key, own)
    context.later(since + context.graceMs, () => {
      const why = staleBecause(state.pods.get(pod)?.pod, address)
      if (suspects.get(key) !== own || why === undefined) return
      if (!knowsPods()) return clear(key)
      const { kind, namespace, service, name } = object.seen
      const podName = address.podName ?? state.pods.get(pod)?.pod.metadata.name
      context.find(
        {
          code: 'stale-address',
          cluster,
          namespace,
          service,
          object: kind,
          name,
          address: address.address,
          ...(podName === undefined ? {} : { pod: podName }),
          why,
          sinceMs: context.now() - since,
        },
        `${cluster}/${key}`,
      )
    })
  }

  return { review }
}

function staleBecause(pod: SeenPod | undefined, { address }: SeenAddress): Why | undefined {
  if (pod === undefined) return 'pod-gone'
  if (isFinished(pod)) return 'pod-finished'
  const { podIP, podIPs = [] } = pod.status ?? {}
  const isOwn = podIPs.some(({ ip }) => ip !== undefined && isSameAddress(ip, address)) || podIP === address
  return isOwn ? undefined : 'pod-has-another-address'
}

/** An IPv6 address has several forms. */
function isSameAddress(one: string, other: string): boolean {
  return one === other || (one.includes(':') && other.includes(':') && hostOf(one) === hostOf(other))
}

function hostOf(address: string): string {
  return URL.canParse(`http://[${address}]`) ? new URL(`http://[${address}]`).hostname : address
}
