import { addressesOf, endpointsTypeOf } from './addresses.ts'
import type { EndpointAddress, EndpointPort, EndpointSubset, Pod, Service } from './objects.ts'
import { endpointsPortsOf } from './ports.ts'
import { isReady } from './readiness.ts'
import { type EndpointSource, hasHostname, portsKey, referenceTo } from './slice-groups.ts'

export const ENDPOINTS_LIMIT = 1_000

export interface Truncation {
  /** The number of ready addresses before the truncation; `notReady` is that of the others. */
  readonly ready: number
  readonly notReady: number
}

/** Endpoints include a terminating pod only where the Service publishes addresses that are not ready. */
function isForEndpoints({ spec }: Service, { metadata }: Pod): boolean {
  return metadata.deletionTimestamp === undefined || spec.publishNotReadyAddresses === true
}

/** Makes the subsets before the truncation. `pods` are those of `sliceGroupsOf`. */
export function endpointSubsetsOf(source: EndpointSource, pods: readonly Pod[]): EndpointSubset[] {
  const { service } = source
  const byPort = new Map<string, { ports: EndpointPort[]; addresses: EndpointAddress[] }>()
  const ready = new Set<string>()
  for (const pod of pods) {
    const address = isForEndpoints(service, pod) ? addressOf(source, pod) : undefined
    if (address === undefined) continue
    if (service.spec.publishNotReadyAddresses === true || isReady(pod)) ready.add(pod.metadata.uid)
    for (const ports of portsFor(service, pod)) {
      const key = portsKey(ports)
      const same = byPort.get(key)
      if (same === undefined) byPort.set(key, { ports, addresses: [address] })
      else same.addresses.push(address)
    }
  }
  const sameAddresses = Map.groupBy(byPort.values(), ({ addresses }) => addresses.map(addressKey).join())
  return Array.from(sameAddresses.values(), (some) => {
    const sorted = some[0]!.addresses.toSorted((a, b) => (addressKey(a) < addressKey(b) ? -1 : 1))
    const [addresses, notReadyAddresses] = [true, false].map((is) =>
      sorted.filter(({ targetRef }) => ready.has(targetRef.uid) === is),
    )
    return { addresses: addresses!, notReadyAddresses: notReadyAddresses!, ports: some.flatMap(({ ports }) => ports) }
  })
}

/** The sets of ports for a pod, one port in each. A headless Service without ports has one empty set. */
function portsFor(service: Service, pod: Pod): EndpointPort[][] {
  if ((service.spec.ports ?? []).length === 0) return service.spec.clusterIP === 'None' ? [[]] : []
  return endpointsPortsOf(service, pod).found.map((port) => [port])
}

function addressOf({ service, rules }: EndpointSource, pod: Pod): EndpointAddress | undefined {
  const [ip] = addressesOf(pod, endpointsTypeOf(service, pod), rules)
  const { nodeName, hostname } = pod.spec
  if (ip === undefined) return undefined
  return {
    ip,
    ...(hostname && hasHostname(service, pod) ? { hostname } : {}),
    ...(nodeName ? { nodeName } : {}),
    targetRef: referenceTo(pod),
  }
}

/** The key to sort addresses by. The controller sorts them as texts. */
function addressKey({ ip, targetRef }: EndpointAddress): string {
  return `${ip}\0${targetRef.uid}`
}

/**
 * Each subset keeps its share, ready addresses first. The controller visits the subsets in the order of a hash, so the last one may keep
 * a few addresses less than here, and another a few more.
 */
export function truncate(subsets: readonly EndpointSubset[]): { subsets: readonly EndpointSubset[]; truncation?: Truncation } {
  const count = (of: (subset: EndpointSubset) => readonly unknown[]): number =>
    subsets.reduce((sum, subset) => sum + of(subset).length, 0)
  const [ready, notReady] = [count(({ addresses }) => addresses), count(({ notReadyAddresses }) => notReadyAddresses)]
  if (ready + notReady <= ENDPOINTS_LIMIT) return { subsets }
  const areReadyTooMany = ready > ENDPOINTS_LIMIT
  const [room, total] = areReadyTooMany ? [ENDPOINTS_LIMIT, ready] : [ENDPOINTS_LIMIT - ready, notReady]
  let left = room
  const keep = (some: readonly EndpointAddress[]): readonly EndpointAddress[] => {
    const kept = some.slice(0, Math.min(left, Math.ceil((some.length / total) * room)))
    left -= kept.length
    return kept
  }
  const truncated = subsets.map((subset) =>
    areReadyTooMany
      ? { ...subset, addresses: keep(subset.addresses), notReadyAddresses: [] }
      : { ...subset, notReadyAddresses: keep(subset.notReadyAddresses) },
  )
  return { subsets: truncated, truncation: { ready, notReady } }
}
