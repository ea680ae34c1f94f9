import type { EndpointPort, Service } from '../endpoints/objects.ts'
import type { PodMembership } from '../endpoints/pod-membership.ts'
import { portsKey } from '../endpoints/slice-groups.ts'
import { conditionsOf, isByController, serviceNameOf } from '../endpoints/stored-slices.ts'
import type { StaleAddress } from '../reasons/explain-reasons.ts'
import type { ReasonOf } from '../reasons/reason.ts'
import type { Known } from './known-pods.ts'
import type { StoredEndpoint, StoredSlice } from '../endpoints/stored.ts'
import { indexSlices, type SliceIndex } from './slice-index.ts'
import { addressWriterOf } from '../endpoints/writers.ts'

export type SliceDifference = ReasonOf<
  'no-slice' | 'not-in-slices' | 'slice-differs' | 'slice-ports-differ' | 'stale-address' | 'written-by-other'
>

const FIELDS = ['ready', 'serving', 'terminating'] as const

export function slicesOf(service: Service, slices: readonly StoredSlice[]): StoredSlice[] {
  return slices.filter((slice) => serviceNameOf(slice) === service.metadata.name)
}

/**
 * Compares the slices of the controller with those that it would make, for the requested pods. `pods` are the endpoints that it would
 * make of each pod that the Service selects.
 */
export function compareSlices(
  service: Service,
  pods: readonly PodMembership[],
  stored: readonly StoredSlice[],
  known: Known,
): SliceDifference[] {
  const { name } = service.metadata
  const own = slicesOf(service, stored).filter(isByController)
  if (own.length === 0) return [{ code: 'no-slice', service: name }]
  const index = indexSlices(own)
  const byUid = new Map(pods.map((one) => [one.pod.metadata.uid, one]))
  const differences = [
    ...pods.filter(({ pod }) => known.isAsked(pod.metadata.uid)).flatMap((one) => ofPod(name, one, index)),
    ...own.flatMap((slice) => staleIn(name, byUid, slice, known)),
  ]
  const touched = new Set(differences.flatMap((one) => sliceOf(one) ?? own.map(({ metadata }) => metadata.name)))
  const foreign = own.filter(({ metadata }) => touched.has(metadata.name)).flatMap(writtenByOther)
  return [...differences, ...foreign]
}

function writtenByOther({ metadata: { name, managedFields }, endpoints }: StoredSlice): ReasonOf<'written-by-other'>[] {
  const writer = addressWriterOf('EndpointSlice', managedFields, (endpoints ?? []).length === 0)
  if (writer === undefined || writer.is === 'controller-manager') return []
  return [{ code: 'written-by-other', object: { kind: 'EndpointSlice', name }, writer }]
}

function sliceOf(one: SliceDifference): string | undefined {
  if (one.code === 'slice-differs' || one.code === 'slice-ports-differ') return one.slice
  return one.code === 'stale-address' ? one.object.name : undefined
}

function ofPod(service: string, { pod, slices: made }: PodMembership, index: SliceIndex): SliceDifference[] {
  const { name, uid } = pod.metadata
  return made.flatMap((one): SliceDifference[] => {
    const places = index
      .byUid(uid)
      .filter(({ slice }) => slice.addressType === one.addressType)
      .filter(({ endpoint }) => endpoint.addresses.join() === one.addresses.join())
    // Two slices have a pod for a moment, while the controller moves it from one to the other.
    const differences = places.map(({ slice, endpoint }): SliceDifference[] => {
      const within = { service, slice: slice.metadata.name, pod: name }
      const is = conditionsOf(endpoint)
      const differs = FIELDS.filter((field) => is[field] !== one.conditions[field]).map((field) => {
        const set = endpoint.conditions?.[field]
        return { field, ...(set === undefined ? {} : { is: set }), made: one.conditions[field] }
      })
      const ports = portsOf(slice)
      return [
        ...(differs.length === 0 ? [] : [{ code: 'slice-differs' as const, ...within, differs }]),
        ...(portsKey(ports) === portsKey(one.ports)
          ? []
          : [{ code: 'slice-ports-differ' as const, ...within, ports: ports.map(shown), made: one.ports.map(shown) }]),
      ]
    })
    if (differences.length === 0) return [{ code: 'not-in-slices', service, pod: name, addresses: one.addresses }]
    return differences.some((some) => some.length === 0) ? [] : differences[0]!
  })
}

function staleIn(service: string, pods: ReadonlyMap<string, PodMembership>, slice: StoredSlice, known: Known): SliceDifference[] {
  return (slice.endpoints ?? []).flatMap((endpoint) => {
    const { uid = '', name: pod } = endpoint.targetRef ?? {}
    const made = pods.get(uid)
    const wanted = made?.slices.filter(({ addressType }) => addressType === slice.addressType) ?? []
    if (wanted.some(({ addresses }) => addresses.join() === endpoint.addresses.join())) return []
    const isElsewhere = wanted.length > 0
    if (isElsewhere && !known.isAsked(uid)) return []
    const because: StaleAddress | undefined = isElsewhere ? 'other-address' : known.whyStale(endpoint.targetRef)
    if (because === undefined || isNotWrittenYet(because, made, endpoint)) return []
    const object = { kind: 'EndpointSlice', name: slice.metadata.name }
    const address = endpoint.addresses.join(', ')
    return [{ code: 'stale-address' as const, service, object, address, ...(pod === undefined ? {} : { pod }), because }]
  })
}

/**
 * The controller syncs no Service for a node that goes away, nor for a pod that ends while it is not Ready. The next change of the
 * Service or its pods makes it write them.
 */
function isNotWrittenYet(because: StaleAddress, made: PodMembership | undefined, endpoint: StoredEndpoint): boolean {
  if (because === 'not-made') return made?.reasons.some(({ code }) => code === 'node-not-found') === true
  const { ready, serving } = conditionsOf(endpoint)
  return because === 'pod-finished' && !ready && !serving
}

function portsOf({ ports }: StoredSlice): EndpointPort[] {
  return (ports ?? []).flatMap(({ name = '', port, protocol = 'TCP', appProtocol }) =>
    port === undefined ? [] : [{ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }],
  )
}

function shown({ port, protocol, name }: EndpointPort): string {
  return `${name === '' ? '' : `${name}:`}${port}/${protocol}`
}
