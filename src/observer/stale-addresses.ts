import { isFinished } from '../endpoints/pod-membership.ts'
import type { ClusterState, ObjectState } from './cluster-state.ts'
import type { Context } from './context.ts'
import type { SeenAddress, SeenPod } from './events.ts'
import type { FormerHolder, Holders } from './holders.ts'

/** Finds addresses of pods that are gone, are finished, or have another address, once that has lasted for longer than the grace. */
export interface StaleAddresses {
  /** Looks at the addresses of the pod in all endpoints. */
  review(pod: string): void
  /** Looks at the address in all endpoints, since a pod or node has got or lost it. */
  reviewAt(address: string): void
  /** Looks at all addresses of an object that has changed. */
  reviewObject(before: ObjectState | undefined, now: ObjectState | undefined): void
}

interface Stale {
  why: FormerHolder['why']
  pod?: string
  /** The cluster of the pod, where that is another cluster. */
  podCluster?: string
}

/** `knowsPods` returns whether all pods of the cluster are known. While some are unknown, a missing pod does not count as gone. */
export function createStaleAddresses(
  context: Context,
  cluster: string,
  state: ClusterState,
  holders: Holders,
  knowsPods: () => boolean,
): StaleAddresses {
  /** The addresses that look stale, by object, pod and address. */
  const suspects = new Map<string, { since: number }>()

  function staleBecause(object: ObjectState, address: SeenAddress): Stale | undefined {
    if (!getsRequests(address)) return undefined
    if (knowsPods() && address.pod !== undefined) {
      const pod = state.pods.get(address.pod)?.pod
      const name = address.podName ?? pod?.metadata.name
      const named = name === undefined ? {} : { pod: name }
      if (pod !== undefined) {
        const why = elsewhereBecause(pod, address)
        return why && { why, ...named }
      }
      if (state.isControllers(object.seen)) return { why: 'pod-gone', ...named }
    }
    // The address of another writer may be that of a pod that is not observed. Only a pod that was seen to go counts as gone.
    const former = holders.formerAt(address.address)
    if (former === undefined || state.isControllers(object.seen)) return undefined
    const elsewhere = former.cluster === cluster ? {} : { podCluster: former.cluster }
    return { why: former.why, pod: former.pod, ...elsewhere }
  }

  function look(object: ObjectState, address: SeenAddress): void {
    const key = keyOf(object, address)
    if (staleBecause(object, address) === undefined) clear(key)
    else if (!suspects.has(key)) suspect(key, object.seen.uid, address)
  }

  function clear(key: string): void {
    if (suspects.delete(key)) context.over('stale-address', `${cluster}/${key}`)
  }

  function suspect(key: string, uid: string, address: SeenAddress): void {
    const since = context.now()
    const own = { since }
    suspects.set(key, own)
    context.later(since + context.graceMs, () => {
      if (suspects.get(key) !== own) return
      const object = state.objects.get(uid)!
      const stale = staleBecause(object, address)
      if (stale === undefined) return clear(key)
      const { kind, namespace, service, name } = object.seen
      context.find(
        {
          code: 'stale-address',
          cluster,
          namespace,
          service,
          object: kind,
          name,
          address: address.address,
          ...stale,
          sinceMs: context.now() - since,
        },
        `${cluster}/${key}`,
      )
    })
  }

  return {
    review(pod) {
      for (const object of state.objectsWith(pod)) for (const address of object.byPod.get(pod)!) look(object, address)
    },
    reviewAt(address) {
      for (const object of state.objectsAt(address))
        for (const one of object.seen.addresses) if (one.address === address) look(object, one)
    },
    reviewObject(before, now) {
      const has = new Set(now?.seen.addresses.map((address) => keyOf(now, address)))
      for (const address of before?.seen.addresses ?? []) {
        const key = keyOf(before!, address)
        if (!has.has(key)) clear(key)
      }
      for (const address of now?.seen.addresses ?? []) look(now!, address)
    },
  }
}

function keyOf({ seen: { uid } }: ObjectState, { pod = '', address }: SeenAddress): string {
  return `${uid}/${pod}/${address}`
}

/** kube-proxy sends requests to serving and terminating addresses where no address is ready. */
function getsRequests({ ready, serving = false, terminating = false }: SeenAddress): boolean {
  return ready || (serving && terminating)
}

function elsewhereBecause(pod: SeenPod, { address }: SeenAddress): FormerHolder['why'] | undefined {
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
