import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbeddedBalancer } from '../balancers/embedded.ts'
import { NAMESPACE } from '../cluster/manifests.ts'
import type { Followed } from './incident.ts'

export interface Following {
  /** Stops following. Rejects where following has failed. */
  stop(): Promise<void>
}

interface Address {
  ip: string
  targetRef?: { name: string }
}

interface Slice {
  endpoints?: { addresses: string[]; conditions?: { ready?: boolean }; targetRef?: { name: string } }[]
}

interface Endpoints {
  subsets?: { addresses?: Address[] }[]
}

const LOOK_MS = 100

export interface FollowEndpointsOptions {
  url: string
  balancer: EmbeddedBalancer
  /** The server of an address, for endpoints that name no pod. */
  serverOf(address: string): string | undefined
}

/**
 * Follows endpoints as an ingress controller does: a server gets requests exactly while the endpoints of the Service list it as ready.
 */
export function followEndpoints(
  { service, object, everyMs = LOOK_MS }: Followed,
  { url, balancer, serverOf }: FollowEndpointsOptions,
): Following {
  const ending = new AbortController()

  async function read(): Promise<Set<string>> {
    const api = object === 'endpoints' ? '/api/v1' : '/apis/discovery.k8s.io/v1'
    const selector =
      object === 'endpoints'
        ? `fieldSelector=metadata.name%3D${service}`
        : `labelSelector=kubernetes.io/service-name%3D${service}`
    const answer = await fetch(`${url}${api}/namespaces/${NAMESPACE}/${object}?${selector}`)
    if (!answer.ok) throw new Error(`demo: the ${object} were not read: ${answer.status} ${await answer.text()}`)
    const { items } = (await answer.json()) as { items: (Slice & Endpoints)[] }
    return new Set(items.flatMap(addressesIn).map(({ ip, targetRef }) => targetRef?.name ?? serverOf(ip) ?? ip))
  }

  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      const [wanted, now] = await Promise.all([read(), balancer.look()])
      for (const [name, isIn] of now)
        if (wanted.has(name) !== isIn) await balancer.set(name, wanted.has(name) ? 'ready' : 'maint')
      await sleep(everyMs, undefined, { signal: ending.signal }).catch(() => {})
    }
  }

  const following = follow()
  // `stop` reports a failure. Until then, a rejection must not end the process.
  following.catch(() => {})
  return {
    async stop() {
      ending.abort()
      await following
    },
  }
}

function addressesIn({ endpoints = [], subsets = [] }: Slice & Endpoints): Address[] {
  return [
    ...endpoints
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses, targetRef }) => addresses.map((ip) => ({ ip, ...(targetRef === undefined ? {} : { targetRef }) }))),
    ...subsets.flatMap(({ addresses = [] }) => addresses),
  ]
}
