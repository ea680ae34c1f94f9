import { SERVICE_NAME, SLICE_MANAGED_BY } from '../../endpoints/endpoint-labels.ts'
import type { EndpointPort } from '../../endpoints/objects.ts'
import { digest } from '../../journal/digest.ts'
import {
  type Copy,
  INSTANCE,
  MULTICLUSTER_SERVICE,
  type OwnerReference,
  type OwnSlice,
  SOURCE_CLUSTER,
  SOURCE_UID,
  SYNC_MANAGER,
} from '../own-slice.ts'

/** What the slices of one source and one Service have in common. */
export interface SliceOwner {
  readonly namespace: string
  readonly service: string
  /** The UID of the Service in the access cluster: a Service that is deleted takes its slices along. */
  readonly serviceUid: string
  readonly source: string
  /** The UID of the source cluster, where it is known. */
  readonly sourceUid?: string
  /** The sync that writes the slices. */
  readonly instance?: string
}

export interface SliceContent {
  readonly addressType: string
  readonly ports: readonly EndpointPort[]
  readonly copies: readonly Copy[]
}

/** Writes the slice as the API takes it. Fields of `former` that other writers own are kept. */
export function sliceBody(name: string, owner: SliceOwner, content: SliceContent, former?: OwnSlice): object {
  const { namespace } = owner
  const kept = former?.metadata
  const annotations = { ...kept?.annotations, ...ownAnnotations(owner) }
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...kept,
      name,
      namespace,
      labels: { ...kept?.labels, ...ownLabels(owner) },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ownerReferences: [...(kept?.ownerReferences ?? []).filter((one) => !isOfService(one)), ownerReference(owner)],
    },
    addressType: content.addressType,
    ports: content.ports.map(({ name: port, port: number, protocol, appProtocol }) => ({
      name: port,
      port: number,
      protocol,
      ...(appProtocol === undefined ? {} : { appProtocol }),
    })),
    endpoints: content.copies.map(({ address, conditions, hostname, zone }) => ({
      addresses: [address],
      conditions,
      ...(hostname === undefined ? {} : { hostname }),
      ...(zone === undefined ? {} : { zone }),
    })),
  }
}

/** True where the labels, the annotation and the owner are those that sync writes. */
export function hasOwnMetadata({ metadata }: OwnSlice, owner: SliceOwner): boolean {
  const { labels = {}, annotations = {}, ownerReferences = [] } = metadata
  const owners = ownerReferences.filter(isOfService)
  return (
    Object.entries(ownLabels(owner)).every(([name, value]) => labels[name] === value) &&
    Object.entries(ownAnnotations(owner)).every(([name, value]) => annotations[name] === value) &&
    owners.length === 1 &&
    owners[0]!.uid === owner.serviceUid
  )
}

function ownLabels({ service, source }: SliceOwner): Record<string, string> {
  return {
    [SERVICE_NAME]: service,
    [MULTICLUSTER_SERVICE]: service,
    [SOURCE_CLUSTER]: source,
    [SLICE_MANAGED_BY]: SYNC_MANAGER,
  }
}

function ownAnnotations({ sourceUid, instance }: SliceOwner): Record<string, string> {
  return {
    ...(sourceUid === undefined ? {} : { [SOURCE_UID]: sourceUid }),
    ...(instance === undefined ? {} : { [INSTANCE]: instance }),
  }
}

function isOfService({ kind, apiVersion }: OwnerReference): boolean {
  return kind === 'Service' && apiVersion === 'v1'
}

function ownerReference({ service, serviceUid }: SliceOwner): OwnerReference {
  return { apiVersion: 'v1', kind: 'Service', name: service, uid: serviceUid }
}

/**
 * Returns the first free name. Names follow from their content alone: where it is not known whether a slice was made, another try finds it.
 * The digest tells `a-b` of `c` from `a` of `b-c`.
 */
export function sliceName({ namespace, service, source }: SliceOwner, group: string, isTaken: (name: string) => boolean): string {
  for (let number = 0; ; number += 1) {
    const name = `${service}-${source}-${digest(JSON.stringify([namespace, service, source, group, number]))}`
    if (!isTaken(name)) return name
  }
}
