import { addressTypesOf, endpointsTypeOf, hasAddress, typesOf } from './addresses.ts'
import { ENDPOINTS_LIMIT, type Truncation } from './endpoint-subsets.ts'
import type { EndpointPort, EndpointSubset, Pod, Service, SliceEndpoint, SliceGroup } from './objects.ts'
import { endpointsPortsOf, slicePortsOf } from './ports.ts'
import { isReady, notReadyBecause } from './readiness.ts'
import type { PodEndpointReason } from './reasons.ts'
import { lackedLabels, selects } from './selectors.ts'
import { type EndpointSource, hasHostname, isOnKnownNode } from './slice-groups.ts'

const OLD_ANNOTATION = 'service.alpha.kubernetes.io/tolerate-unready-endpoints'

/** The place of a pod in the endpoints of a Service, and the reasons for it. */
export interface PodMembership {
  readonly pod: Pod
  /** The selector of the Service matches the pod. */
  readonly selected: boolean
  /** The endpoints of the pod, one for each address type that it has. */
  readonly slices: readonly (Pick<SliceGroup, 'addressType' | 'ports'> & SliceEndpoint)[]
  /** The place of the pod in the Endpoints, under at least one port. */
  readonly inEndpoints: 'ready' | 'not-ready' | 'absent'
  /** The reasons why the pod is out, or is in with an unusual state; empty in the usual case. */
  readonly reasons: readonly PodEndpointReason[]
}

export interface MadeEndpoints {
  readonly groups: readonly SliceGroup[]
  /** The subsets before the truncation; `subsets` are those after it. */
  readonly whole: readonly EndpointSubset[]
  readonly subsets: readonly EndpointSubset[]
  readonly truncation?: Truncation
}

export function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Finds the place of each pod in the endpoints that were made, by the UID of the pod. */
export function membershipsOf(source: EndpointSource, pods: readonly Pod[], made: MadeEndpoints): PodMembership[] {
  const slices = Map.groupBy(
    made.groups.flatMap(({ addressType, ports, endpoints }) => endpoints.map((one) => ({ ...one, addressType, ports }))),
    ({ targetRef }) => targetRef.uid,
  )
  const [whole, kept] = [placesIn(made.whole), placesIn(made.subsets)]
  return pods.map((pod) => {
    const { uid } = pod.metadata
    const places = kept.get(uid) ?? []
    const isTruncated = places.length < (whole.get(uid) ?? []).length
    return {
      pod,
      selected: selects(source.service, pod),
      slices: slices.get(uid) ?? [],
      inEndpoints: places[0] ?? 'absent',
      reasons: reasonsOf(source, pod, isTruncated ? made.truncation : undefined),
    }
  })
}

function placesIn(subsets: readonly EndpointSubset[]): ReadonlyMap<string, ('ready' | 'not-ready')[]> {
  const places = new Map<string, ('ready' | 'not-ready')[]>()
  const put = (uid: string, place: 'ready' | 'not-ready'): void => {
    const own = places.get(uid)
    if (own === undefined) places.set(uid, [place])
    else own.push(place)
  }
  for (const { addresses, notReadyAddresses } of subsets) {
    for (const { targetRef } of addresses) put(targetRef.uid, 'ready')
    for (const { targetRef } of notReadyAddresses) put(targetRef.uid, 'not-ready')
  }
  return places
}

/** A reason that keeps the pod out of all endpoints is the only one. */
function reasonsOf(source: EndpointSource, pod: Pod, truncation: Truncation | undefined): PodEndpointReason[] {
  const { service } = source
  const labels = lackedLabels(service, pod)
  if (labels.length > 0) return [{ code: 'selector-differs', labels }]
  const { phase } = pod.status ?? {}
  const { restartPolicy, nodeName, hostNetwork } = pod.spec
  if (phase === 'Succeeded' || phase === 'Failed')
    return [{ code: 'pod-finished', phase, ...(restartPolicy === undefined ? {} : { restartPolicy }) }]
  if (!hasAddress(pod)) return [{ code: 'pod-has-no-address' }]
  return [
    ...(isOnKnownNode(source, pod) ? [] : [{ code: 'node-not-found' as const, node: nodeName ?? '' }]),
    ...lackedTypes(service, pod),
    ...lackedPorts(source, pod),
    ...standing(service, pod),
    ...(truncation === undefined ? [] : [{ code: 'endpoints-truncated' as const, limit: ENDPOINTS_LIMIT, ...truncation }]),
    ...hostname(service, pod),
    ...(hostNetwork === true ? [{ code: 'host-network' as const, ...(nodeName ? { node: nodeName } : {}) }] : []),
  ]
}

function lackedTypes(service: Service, pod: Pod): PodEndpointReason[] {
  const has = typesOf(pod)
  const first = endpointsTypeOf(service, pod)
  return addressTypesOf(service)
    .filter((type) => !has.includes(type))
    .map((addressType) => ({ code: 'no-address-of-type', addressType, has, forEndpoints: addressType === first }))
}

function lackedPorts({ service, rules }: EndpointSource, pod: Pod): PodEndpointReason[] {
  const isUnder = (found: readonly EndpointPort[]): boolean => found.length > 0 || (service.spec.ports ?? []).length === 0
  const { notFound } = slicePortsOf(service, pod, rules)
  const isOut = !isUnder(endpointsPortsOf(service, pod).found)
  return [...notFound, ...(isOut ? [{ code: 'no-port-in-endpoints' as const }] : [])]
}

function standing(service: Service, pod: Pod): PodEndpointReason[] {
  const { deletionTimestamp: dueAt, finalizers = [] } = pod.metadata
  const reasons: PodEndpointReason[] = []
  if (dueAt !== undefined) reasons.push({ code: 'terminating', dueAt, finalizers: [...finalizers] })
  if (!isReady(pod)) reasons.push(notReadyBecause(pod))
  if (reasons.length === 0) return []
  if (service.spec.publishNotReadyAddresses === true) return [...reasons, { code: 'not-ready-published' }]
  const isAnnotated = service.metadata.annotations?.[OLD_ANNOTATION] === 'true'
  return isAnnotated ? [...reasons, { code: 'old-annotation-ignored', annotation: OLD_ANNOTATION }] : reasons
}

function hostname(service: Service, pod: Pod): PodEndpointReason[] {
  const { hostname: own, subdomain } = pod.spec
  if (!own || hasHostname(service, pod)) return []
  return [{ code: 'hostname-left-out', hostname: own, ...(subdomain ? { subdomain } : {}) }]
}
