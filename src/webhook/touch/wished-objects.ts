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
 * The objects of a Service as their controllers wish them. Which slice has which endpoint is as it is stored. An endpoint that is stored and
 * not wished, or wished and in no slice, is left out: its controller removes or adds it without help, and rules leave it in its slice.
 */
export function wishedObjects(service: Service, wish: Wish, view: ClusterIndex): WishedObject[] {
  const { namespace, name } = service.metadata
  const slices = view.slicesOf(namespace, name).filter(isByController)
  const endpoints = view.endpointsOf(namespace, name)
  return [...wishedSlices(wish, slices), ...(endpoints === undefined ? [] : [wishedEndpoints(wish, endpoints)])]
}

function wishedSlices({ slices: { groups } }: Wish, stored: readonly StoredSlice[]): WishedObject[] {
  const wished = new Map<string, SliceEndpoint>()
  for (const { addressType, endpoints } of groups)
    for (const endpoint of endpoints) wished.set(`${addressType} ${entryKey(endpoint)}`, endpoint)
  return stored.map((slice): WishedObject => {
    const endpoints = (slice.endpoints ?? []).flatMap((endpoint) => {
      const found = wished.get(`${slice.addressType} ${entryKey(endpoint)}`)
      return found === undefined ? [] : [found]
    })
    return { kind: 'EndpointSlice', name: slice.metadata.name, stored: slice, object: { ...slice, endpoints } }
  })
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
