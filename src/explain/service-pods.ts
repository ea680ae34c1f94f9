import type { Service } from '../endpoints/objects.ts'
import { selects } from '../endpoints/pod-membership.ts'
import { slicesOf } from './compare-slices.ts'
import { asPod } from './explain-pod.ts'
import type { ObservedEndpoint, ObservedPod, ObservedSlice } from './observed.ts'

/** The pods that a Service selects, and those that its slices have. */
export function servicePods(service: Service, pods: readonly ObservedPod[], slices: readonly ObservedSlice[]): ObservedPod[] {
  const own = slicesOf(service, slices)
  const hasSelector = Object.keys(service.spec.selector ?? {}).length > 0
  return pods.filter((pod) => (hasSelector && selects(service, asPod(pod))) || own.some((slice) => hasPod(slice, pod)))
}

export function hasPod({ endpoints = [] }: ObservedSlice, pod: ObservedPod): boolean {
  return endpoints.some((endpoint) => isEndpointOf(endpoint, pod))
}

/** Other writers may name no pod: then its address counts. */
export function isEndpointOf({ addresses, targetRef }: ObservedEndpoint, { metadata, status }: ObservedPod): boolean {
  if (targetRef?.uid !== undefined) return targetRef.uid === metadata.uid
  const own = new Set([status?.podIP, ...(status?.podIPs ?? []).map(({ ip }) => ip)])
  return addresses.some((address) => own.has(address))
}
