import { SLICE_MANAGED_BY } from '../endpoints/endpoint-labels.ts'
import type { Node, Service } from '../endpoints/objects.ts'
import { selects } from '../endpoints/pod-membership.ts'
import { serviceEndpoints } from '../endpoints/service-endpoints.ts'
import type { Reason } from '../reasons/reason.ts'
import { compareEndpoints, placesIn } from './compare-endpoints.ts'
import { compareSlices, conditionsOf, isControllers, slicesOf } from './compare-slices.ts'
import { asPod, isOfPod } from './explain-pod.ts'
import type { Place, ServiceExplanation, SliceExplanation } from './explanation.ts'
import { knownPods } from './known-pods.ts'
import type { Observed, ObservedPod, ObservedSlice } from './observed.ts'
import { nearlySelected } from './selectors.ts'
import { hasPod, isEndpointOf } from './service-pods.ts'
import { ENDPOINTS_CONTROLLER_WRITES, SLICE_CONTROLLER_WRITES, writerOf } from './writers.ts'

export interface ExplainedService {
  explanation: ServiceExplanation
  /** Where it has each pod that is asked about, by the UID of the pod. */
  places: ReadonlyMap<string, Place[]>
  /** `pod`: the one that the reason is about, where it does not say. */
  reasons: { reason: Reason; pod?: string }[]
}

/** What one Service makes of the pods that are asked about, and how its endpoints stand. */
export function explainService(service: Service, observed: Observed): ExplainedService {
  const { asked, about, slices, endpoints } = observed
  const { name } = service.metadata
  const isWhole = about.type === 'service'
  const all = observed.pods.map(asPod)
  const result = serviceEndpoints({ service, pods: all, nodes: nodesFor(observed), rules: observed.rules })
  const { made } = result
  const selected = result.pods.filter((one) => one.selected)
  const known = knownPods(service, { pods: all, hasAllPods: observed.hasAllPods, asked, isWhole })
  const stored = endpoints?.find(({ metadata }) => metadata.name === name)
  const ownSlices = slicesOf(service, slices ?? [])
  const reasons: ExplainedService['reasons'] = []
  const tell = (some: readonly Reason[], pod?: string): void => {
    for (const reason of some) reasons.push({ reason, ...(pod === undefined ? {} : { pod }) })
  }

  tell(
    result.reasons.filter(({ code }) =>
      code === 'selects-nothing' ? isWhole && observed.hasAllPods : isWhole || code === 'headless-without-ports',
    ),
  )
  if (isWhole && selected.length === 0) tell(nearlySelected(service, all))
  for (const { pod, reasons: own } of selected)
    if (asked.has(pod.metadata.uid))
      tell(
        own.filter((one) => !isOfPod(one)),
        pod.metadata.name,
      )
  if (made !== undefined && slices !== undefined) {
    tell(compareSlices(service, selected, slices, known))
    tell(othersOf(name, ownSlices))
  }
  if (made !== undefined && endpoints !== undefined) {
    const { subsets, truncation } = made.endpoints
    tell(compareEndpoints(service, { pods: selected, subsets, isTruncated: truncation !== undefined }, stored, known))
  }
  const explained = ownSlices.map(sliceExplanation)
  if (isWhole && slices !== undefined) tell(emptyBecause(service, selected.length, explained, observed))

  const inEndpoints = stored && placesIn(stored)
  const places = new Map<string, Place[]>()
  for (const pod of observed.pods) {
    const { uid } = pod.metadata
    if (!asked.has(uid)) continue
    const found = slicePlaces(name, pod, ownSlices)
    const isSelected = selected.some((one) => one.pod.metadata.uid === uid)
    const isMissed =
      slices !== undefined && isSelected && !found.some((place) => place.in === 'slice' && place.managedBy === undefined)
    const is = inEndpoints?.get(uid)
    places.set(uid, [
      ...found,
      ...(isMissed ? [{ in: 'no-slice' as const, service: name }] : []),
      ...(inEndpoints !== undefined && (isSelected || is !== undefined)
        ? [{ in: 'endpoints' as const, service: name, is: is ?? ('absent' as const) }]
        : []),
    ])
  }
  return { explanation: explanationOf(service, explained, stored), places, reasons }
}

/** The Service has something to say of a pod that is asked about. */
export function isAbout(service: Service, observed: Observed): boolean {
  const { metadata, spec } = service
  if (observed.about.type === 'service') return metadata.name === observed.about.name
  const pods = observed.pods.filter((pod) => observed.asked.has(pod.metadata.uid))
  const hasSelector = Object.keys(spec.selector ?? {}).length > 0
  if (hasSelector && pods.some((pod) => selects(service, asPod(pod)))) return true
  if (slicesOf(service, observed.slices ?? []).some((slice) => pods.some((pod) => hasPod(slice, pod)))) return true
  const stored = observed.endpoints?.find((one) => one.metadata.name === metadata.name)
  const places = stored && placesIn(stored)
  return places !== undefined && pods.some((pod) => places.has(pod.metadata.uid))
}

/** Where the nodes cannot be read, each pod's own is taken to be there. */
function nodesFor({ nodes, pods }: Observed): readonly Node[] {
  if (nodes !== undefined) return nodes
  const names = new Set(pods.flatMap(({ spec }) => (spec.nodeName ? [spec.nodeName] : [])))
  return Array.from(names, (name) => ({ metadata: { name } }))
}

function othersOf(service: string, slices: readonly ObservedSlice[]): Reason[] {
  const others = slices.filter((slice) => !isControllers(slice))
  return Array.from(Map.groupBy(others, managerOf), ([managedBy, some]): Reason => ({
    code: 'slices-of-others',
    service,
    slices: some.map(({ metadata }) => metadata.name),
    ...(managedBy === undefined ? {} : { managedBy }),
  }))
}

function managerOf({ metadata: { labels = {} } }: ObservedSlice): string | undefined {
  return labels[SLICE_MANAGED_BY]
}

function emptyBecause(
  service: Service,
  selected: number,
  slices: readonly SliceExplanation[],
  { hasAllPods }: Pick<Observed, 'hasAllPods'>,
): Reason[] {
  const { name } = service.metadata
  if (service.spec.type === 'ExternalName' || slices.some(({ ready }) => ready > 0)) return []
  const isMade = Object.keys(service.spec.selector ?? {}).length > 0
  // That it selects nothing is told already.
  if (isMade) return selected === 0 && hasAllPods ? [] : [{ code: 'no-ready-endpoint', service: name, pods: selected }]
  if (slices.every(({ notReady }) => notReady === 0)) return [{ code: 'no-address-given', service: name }]
  return [{ code: 'no-ready-endpoint', service: name, pods: 0 }]
}

function slicePlaces(service: string, pod: ObservedPod, slices: readonly ObservedSlice[]): Place[] {
  return slices.flatMap((slice) => {
    const { addressType, metadata } = slice
    const managedBy = isControllers(slice) ? undefined : (managerOf(slice) ?? '')
    const own = (slice.endpoints ?? []).filter((endpoint) => isEndpointOf(endpoint, pod))
    return own.map((endpoint): Place => {
      const stands = { in: 'slice' as const, service, slice: metadata.name, addressType }
      return { ...stands, ...(managedBy === undefined ? {} : { managedBy }), ...conditionsOf(endpoint) }
    })
  })
}

function sliceExplanation(slice: ObservedSlice): SliceExplanation {
  const { metadata, addressType, endpoints = [] } = slice
  const ready = endpoints.filter((endpoint) => conditionsOf(endpoint).ready).length
  const managedBy = managerOf(slice)
  const writer = writerOf(metadata.managedFields, ['f:endpoints'], SLICE_CONTROLLER_WRITES)
  return {
    name: metadata.name,
    addressType,
    ...(managedBy === undefined ? {} : { managedBy }),
    ready,
    notReady: endpoints.length - ready,
    ...(writer === undefined ? {} : { writtenBy: writer }),
  }
}

function explanationOf(
  { metadata: { name }, spec: { selector = {} } }: Service,
  slices: SliceExplanation[],
  stored: NonNullable<Observed['endpoints']>[number] | undefined,
): ServiceExplanation {
  if (stored === undefined) return { name, selector, slices }
  const { subsets = [], metadata } = stored
  const writer = writerOf(metadata.managedFields, ['f:subsets'], ENDPOINTS_CONTROLLER_WRITES)
  const addresses = new Set(subsets.flatMap((one) => one.addresses ?? []).map(({ ip }) => ip))
  const others = new Set(subsets.flatMap((one) => one.notReadyAddresses ?? []).map(({ ip }) => ip))
  return {
    name,
    selector,
    slices,
    endpoints: {
      ready: addresses.size,
      notReady: [...others].filter((ip) => !addresses.has(ip)).length,
      ...(writer === undefined ? {} : { writtenBy: writer }),
    },
  }
}
