import type { ControllerRules } from '../../endpoints/controller-rules.ts'
import type { Node, Service, SliceEndpoint } from '../../endpoints/objects.ts'
import { serviceEndpoints, type ServiceEndpoints } from '../../endpoints/service-endpoints.ts'
import { addressKey, entryKey } from './entry-key.ts'
import type { StoredEndpoints, StoredSlice } from '../../endpoints/stored.ts'
import { isByController } from '../../endpoints/stored-slices.ts'
import type { ClusterIndex } from '../cluster/cluster-index.ts'
import type { EndpointsKind } from '../cluster/cluster-view.ts'

/** An object as its controller wishes it, with the stored one that it replaces. */
export interface WishedObject {
  readonly kind: EndpointsKind
  readonly name: string
  readonly object: object
  readonly stored: StoredSlice | StoredEndpoints
  /** Endpoints have room for a part of the addresses alone, so that a missing one says nothing. */
  readonly isPartial?: true
}

/** The endpoints that the controllers of Kubernetes wish for a Service. Undefined where they leave the Service alone. */
export type Wish = NonNullable<ServiceEndpoints['made']>

/**
 * @param knowsNodes False where nodes may not be read. Each pod then counts as one on a node that exists.
 */
export function wishOf(service: Service, view: ClusterIndex, knowsNodes: boolean, rules?: ControllerRules): Wish | undefined {
  const pods = view.selectedPods(service)
  const names = new Set(pods.flatMap(({ spec: { nodeName } }) => (nodeName === undefined ? [] : [nodeName])))
  const nodes = [...names].flatMap((name): Node[] => {
    const node = knowsNodes ? view.node(name) : { metadata: { name } }
    return node === undefined ? [] : [node]
  })
  return serviceEndpoints({ service, pods, nodes, ...(rules && { rules }) }).made
}

/**
 * The objects of a Service as their controllers wish them, each as it is stored when it is asked for. Which slice has which endpoint is as it
 * is stored. An endpoint that is stored and not wished, or wished and in no slice, is left out: its controller removes or adds it without help.
 */
export function* wishedObjects(service: Service, wish: Wish, view: ClusterIndex): Generator<WishedObject> {
  const { namespace, name } = service.metadata
  const wished = new Map<string, SliceEndpoint>()
  for (const { addressType, endpoints } of wish.slices.groups)
    for (const endpoint of endpoints) wished.set(`${addressType} ${entryKey(endpoint)}`, endpoint)
  const slices = (): StoredSlice[] => view.slicesOf(namespace, name).filter(isByController)
  for (const { metadata } of slices()) {
    const slice = slices().find((one) => one.metadata.name === metadata.name)
    if (slice !== undefined) yield wishedSlice(wished, slice)
  }
  const endpoints = view.endpointsOf(namespace, name)
  if (endpoints !== undefined) yield wishedEndpoints(wish, endpoints)
}

function wishedSlice(wished: ReadonlyMap<string, SliceEndpoint>, slice: StoredSlice): WishedObject {
  const endpoints = (slice.endpoints ?? []).flatMap((endpoint) => {
    const found = wished.get(`${slice.addressType} ${entryKey(endpoint)}`)
    return found === undefined ? [] : [found]
  })
  return { kind: 'EndpointSlice', name: slice.metadata.name, stored: slice, object: { ...slice, endpoints } }
}

function wishedEndpoints({ endpoints: { subsets, truncation } }: Wish, stored: StoredEndpoints): WishedObject {
  const object = {
    metadata: stored.metadata,
    subsets: subsets.filter(({ addresses, notReadyAddresses }) => addresses.length + notReadyAddresses.length > 0),
  }
  return { kind: 'Endpoints', name: stored.metadata.name, stored, object, ...(truncation && { isPartial: true }) }
}

/** The readiness of the addresses of Endpoints by key. An address of several subsets is ready where it is ready in each. */
export function addressStates({ subsets = [] }: Pick<StoredEndpoints, 'subsets'>): Map<string, boolean> {
  const states = new Map<string, boolean>()
  for (const { addresses = [] } of subsets)
    for (const one of addresses) if (!states.has(addressKey(one))) states.set(addressKey(one), true)
  for (const { notReadyAddresses = [] } of subsets) for (const one of notReadyAddresses) states.set(addressKey(one), false)
  return states
}
