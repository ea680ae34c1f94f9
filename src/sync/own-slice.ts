import type { ObjectRecord } from '../kube/reflector.ts'
import { SERVICE_NAME, SLICE_MANAGED_BY } from '../endpoints/endpoint-labels.ts'
import type { EndpointPort } from '../endpoints/objects.ts'
import { parseSlice } from '../endpoints/parse-objects.ts'
import { portsKey } from '../endpoints/slice-groups.ts'
import { conditionsOf } from '../endpoints/stored-slices.ts'
import type { StoredPort } from '../endpoints/stored.ts'
import type { Conditions } from './model.ts'

/** The value of `endpointslice.kubernetes.io/managed-by` in the slices that sync writes. */
export const SYNC_MANAGER = 'sync.sluice.dev'
export const OWN_SLICES = `${SLICE_MANAGED_BY}=${SYNC_MANAGER}`
/** The labels of the multi-cluster conventions (KEP-1645). */
export const MULTICLUSTER_SERVICE = 'multicluster.kubernetes.io/service-name'
export const SOURCE_CLUSTER = 'multicluster.kubernetes.io/source-cluster'
/** The annotation with the UID of the source cluster, which is that of its namespace kube-system. */
export const SOURCE_UID = 'sync.sluice.dev/source-uid'

/** The annotation with the sync that has written the slice: the namespace and the name of its Lease. */
export const INSTANCE = 'sync.sluice.dev/instance'

/** The metadata of a slice, with fields of other writers, which a write keeps. */
export interface SliceMetadata {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
  readonly deletionTimestamp?: string
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

/** An endpoint of a slice that sync writes. */
export interface Copy {
  readonly address: string
  readonly conditions: Conditions
  readonly hostname?: string
  readonly zone?: string
}

/** A slice in the access cluster that has the label of sync. */
export interface OwnSlice extends ObjectRecord {
  readonly metadata: SliceMetadata
  readonly service: string
  readonly source: string
  /** The sync that has written the slice. Absent where the annotation is gone: the slice belongs to the first sync that writes it. */
  readonly instance?: string
  readonly addressType: string
  readonly ports: readonly EndpointPort[]
  readonly portsKey: string
  /** The endpoints with one address each. */
  readonly copies: readonly Copy[]
  /** True where the slice has fields that sync does not write, such as a second address of an endpoint, or a node. */
  readonly hasMore: boolean
}

/** @throws z.ZodError where `raw` is no EndpointSlice */
export function ownSlice(raw: unknown): OwnSlice {
  const slice = parseSlice(raw)
  const metadata = slice.metadata as unknown as SliceMetadata & { managedFields?: unknown }
  const { managedFields: _, ...kept } = metadata
  const instance = kept.annotations?.[INSTANCE]
  const ports = (slice.ports ?? []).map(portOf)
  const endpoints = (slice.endpoints ?? []) as readonly RawEndpoint[]
  return {
    uid: kept.uid,
    name: kept.name,
    namespace: kept.namespace,
    resourceVersion: kept.resourceVersion,
    metadata: kept,
    service: kept.labels?.[SERVICE_NAME] ?? '',
    source: kept.labels?.[SOURCE_CLUSTER] ?? '',
    ...(instance === undefined ? {} : { instance }),
    addressType: slice.addressType,
    ports,
    portsKey: portsKey(ports),
    copies: endpoints.map((endpoint) => ({
      address: endpoint.addresses[0] ?? '',
      conditions: conditionsOf(endpoint),
      ...(endpoint.hostname ? { hostname: endpoint.hostname } : {}),
      ...(endpoint.zone ? { zone: endpoint.zone } : {}),
    })),
    hasMore: endpoints.some(hasMore),
  }
}

interface RawEndpoint {
  readonly addresses: readonly string[]
  readonly hostname?: string
  readonly zone?: string
}

const WRITTEN = new Set(['addresses', 'conditions', 'hostname', 'zone'])

function hasMore(endpoint: RawEndpoint): boolean {
  return endpoint.addresses.length !== 1 || Object.keys(endpoint).some((field) => !WRITTEN.has(field))
}

export function portOf({ name = '', port, protocol = 'TCP', appProtocol }: StoredPort): EndpointPort {
  // A port without a number means all ports. No Service of kube-proxy has such a slice.
  return { name, port: port ?? 0, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }
}

export function isSameCopy(one: Copy, other: Copy): boolean {
  return (
    one.address === other.address &&
    one.conditions.ready === other.conditions.ready &&
    one.conditions.serving === other.conditions.serving &&
    one.conditions.terminating === other.conditions.terminating &&
    one.hostname === other.hostname &&
    one.zone === other.zone
  )
}
