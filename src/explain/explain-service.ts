import type { Node, Service } from '../endpoints/objects.ts'
import type { PodMembership } from '../endpoints/pod-membership.ts'
import { hasSelector, selects } from '../endpoints/selectors.ts'
import { serviceEndpoints, type ServiceEndpoints } from '../endpoints/service-endpoints.ts'
import { conditionsOf, isByController, managerOf } from '../endpoints/stored-slices.ts'
import type { Reason } from '../reasons/reason.ts'
import { compareEndpoints, placesIn } from './compare-endpoints.ts'
import { compareSlices, slicesOf } from './compare-slices.ts'
import { isOfPod } from './explain-pod.ts'
import type { Place, ServiceExplanation, SliceExplanation } from './explanation.ts'
import { knownPods } from './known-pods.ts'
import type { StoredEndpoints, StoredPod, StoredSlice } from '../endpoints/stored.ts'
import type { Observed } from './observed.ts'
import { nearlySelected } from './nearly-selected.ts'
import { sinceWhen } from './since-when.ts'
import { indexSlices, type PlacedEndpoint } from './slice-index.ts'
import { addressWriterOf } from '../endpoints/writers.ts'

export interface ExplainedService {
  explanation: ServiceExplanation
  /** The places of each requested pod in the Service, by the UID of the pod. */
  places: ReadonlyMap<string, Place[]>
  /** `pod` is the pod that the reason is about, where the reason does not name it. */
  reasons: { reason: Reason; pod?: string }[]
}

/** Explains the requested pods in one Service, and the state of its endpoints. */
export function explainService(service: Service, observed: Observed): ExplainedService {
  const { name } = service.metadata
  const result = serviceEndpoints({ service, pods: observed.pods, nodes: nodesFor(observed), rules: observed.rules })
  const selected = result.pods.filter((one) => one.selected)
  const slices = slicesOf(service, observed.slices ?? [])
  const stored = observed.endpoints?.find(({ metadata }) => metadata.name === name)
  const explained = slices.map(sliceExplanation)
  return {
    explanation: explanationOf(service, explained, stored),
    places: placesOf(service, new Set(selected.map(({ pod }) => pod.metadata.uid)), slices, stored, observed),
    reasons: [
      ...ofService(service, result, selected.length, observed).map((reason) => ({ reason })),
      ...selected
        .filter(({ pod }) => observed.asked.has(pod.metadata.uid))
        .flatMap(({ pod, reasons }) =>
          reasons.filter((one) => !isOfPod(one)).map((reason) => ({ reason, pod: pod.metadata.name })),
        ),
      ...differences(service, result, selected, stored, observed).map((reason) => ({ reason })),
      ...(result.made === undefined ? [] : othersOf(name, slices).map((reason) => ({ reason }))),
      ...emptyBecause(service, selected.length, explained, observed).map((reason) => ({ reason })),
    ],
  }
}

/** The reasons about the Service itself. It is unknown whether the Service selects no pods where pods cannot be listed. */
function ofService(service: Service, { reasons }: ServiceEndpoints, selected: number, observed: Observed): Reason[] {
  if (observed.about.type !== 'service') return reasons.filter(({ code }) => code === 'headless-without-ports')
  const told = reasons.filter(({ code }) => code !== 'selects-nothing' || observed.hasAllPods)
  return selected === 0 ? [...told, ...nearlySelected(service, observed.pods)] : told
}

function differences(
  service: Service,
  { made }: ServiceEndpoints,
  selected: readonly PodMembership[],
  stored: StoredEndpoints | undefined,
  { slices, endpoints, pods, hasAllPods, asked, about }: Observed,
): Reason[] {
  if (made === undefined) return []
  const isWhole = about.type === 'service'
  const known = knownPods(service, { pods, hasAllPods, asked, isWhole })
  const { subsets, truncation } = made.endpoints
  const ofEndpoints = { pods: selected, subsets, isTruncated: truncation !== undefined }
  return [
    ...(slices === undefined ? [] : compareSlices(service, selected, slices, known)),
    ...(endpoints === undefined ? [] : compareEndpoints(service, ofEndpoints, stored, known)),
  ]
}

/** The places of each requested pod, by the UID of the pod. */
function placesOf(
  of: Service,
  selected: ReadonlySet<string>,
  slices: readonly StoredSlice[],
  stored: StoredEndpoints | undefined,
  observed: Observed,
): ReadonlyMap<string, Place[]> {
  const service = of.metadata.name
  const index = indexSlices(slices)
  const inEndpoints = stored && placesIn(stored)
  const pods = observed.pods.filter(({ metadata }) => observed.asked.has(metadata.uid))
  return new Map(
    pods.map((pod) => {
      const { uid } = pod.metadata
      const found = index.of(pod).map((one) => slicePlace(of, pod, one))
      const isSelected = selected.has(uid)
      const isMissed = observed.slices !== undefined && isSelected && !found.some(({ managedBy }) => managedBy === undefined)
      const is = inEndpoints?.get(uid)
      const isTold = inEndpoints !== undefined && (isSelected || is !== undefined)
      const places: Place[] = [
        ...found,
        ...(isMissed ? [{ in: 'no-slice' as const, service }] : []),
        ...(isTold ? [{ in: 'endpoints' as const, service, is: is ?? ('absent' as const) }] : []),
      ]
      return [uid, places]
    }),
  )
}

/** The request is about the Service, or the Service selects or lists a requested pod. */
export function isAbout(service: Service, observed: Observed): boolean {
  const { metadata } = service
  if (observed.about.type === 'service') return metadata.name === observed.about.name
  const pods = observed.pods.filter((pod) => observed.asked.has(pod.metadata.uid))
  if (hasSelector(service) && pods.some((pod) => selects(service, pod))) return true
  const index = indexSlices(slicesOf(service, observed.slices ?? []))
  if (pods.some((pod) => index.of(pod).length > 0)) return true
  const stored = observed.endpoints?.find((one) => one.metadata.name === metadata.name)
  const places = stored && placesIn(stored)
  return places !== undefined && pods.some((pod) => places.has(pod.metadata.uid))
}

/** The nodes. Where they cannot be read, the node of each pod counts as existing. */
function nodesFor({ nodes, pods }: Observed): readonly Node[] {
  if (nodes !== undefined) return nodes
  const names = new Set(pods.flatMap(({ spec }) => (spec.nodeName ? [spec.nodeName] : [])))
  return Array.from(names, (name) => ({ metadata: { name } }))
}

function othersOf(service: string, slices: readonly StoredSlice[]): Reason[] {
  const others = slices.filter((slice) => !isByController(slice))
  return Array.from(Map.groupBy(others, managerOf), ([managedBy, some]): Reason => ({
    code: 'slices-of-others',
    service,
    slices: some.map(({ metadata }) => metadata.name),
    ...(managedBy === undefined ? {} : { managedBy }),
  }))
}

function emptyBecause(
  service: Service,
  selected: number,
  slices: readonly SliceExplanation[],
  { hasAllPods, about, slices: read }: Observed,
): Reason[] {
  if (about.type !== 'service' || read === undefined) return []
  const { name } = service.metadata
  if (service.spec.type === 'ExternalName' || slices.some(({ ready }) => ready > 0)) return []
  // `selects-nothing` already reports an empty selection.
  if (hasSelector(service))
    return selected === 0 && hasAllPods ? [] : [{ code: 'no-ready-endpoint', service: name, pods: selected }]
  if (slices.every(({ notReady }) => notReady === 0)) return [{ code: 'no-address-given', service: name }]
  return [{ code: 'no-ready-endpoint', service: name, pods: 0 }]
}

function slicePlace(service: Service, pod: StoredPod, { slice, endpoint }: PlacedEndpoint): Extract<Place, { in: 'slice' }> {
  const managedBy = isByController(slice) ? undefined : (managerOf(slice) ?? '')
  const stands = {
    in: 'slice' as const,
    service: service.metadata.name,
    slice: slice.metadata.name,
    addressType: slice.addressType,
  }
  const told = managedBy === undefined ? sinceWhen(service, pod, endpoint) : { managedBy }
  return { ...stands, ...conditionsOf(endpoint), ...told }
}

function sliceExplanation(slice: StoredSlice): SliceExplanation {
  const { metadata, addressType } = slice
  const endpoints = slice.endpoints ?? []
  const ready = endpoints.filter((endpoint) => conditionsOf(endpoint).ready).length
  const managedBy = managerOf(slice)
  const writer = addressWriterOf('EndpointSlice', metadata.managedFields, endpoints.length === 0)
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
  stored: StoredEndpoints | undefined,
): ServiceExplanation {
  if (stored === undefined) return { name, selector, slices }
  const { subsets = [], metadata } = stored
  const addresses = new Set(subsets.flatMap((one) => one.addresses ?? []).map(({ ip }) => ip))
  const others = new Set(subsets.flatMap((one) => one.notReadyAddresses ?? []).map(({ ip }) => ip))
  const writer = addressWriterOf('Endpoints', metadata.managedFields, addresses.size === 0 && others.size === 0)
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
