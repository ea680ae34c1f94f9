import { SERVICE_NAME, SLICE_MANAGED_BY, TRIGGER_TIME } from '../../endpoints/endpoint-labels.ts'
import type { AddressType, EndpointPort } from '../../endpoints/objects.ts'
import { parseService, parseSlice } from '../../endpoints/parse-objects.ts'
import { conditionsOf } from '../../endpoints/stored-slices.ts'
import { journalOf } from '../../journal/journal.ts'
import type { ObjectRecord } from '../../kube/reflector.ts'
import type { ReadJournal } from '../../pods/glossary.ts'
import { podView } from '../../pods/view.ts'
import type { Conditions, SourceService } from '../model.ts'
import { portOf, SOURCE_CLUSTER, SYNC_MANAGER } from '../own-slice.ts'

/* Objects of a source, reduced to the fields that are copied. */

export interface SourceSlice extends ObjectRecord {
  /** The name of the Service; absent for a slice that is of none, or that is a copy itself. */
  readonly service?: string
  readonly addressType: AddressType
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly SourceEndpoint[]
  /** False for names instead of addresses, and for ports without a number. */
  readonly canBeCopied: boolean
  /** The time of the change that caused the write, by a clock of the source, in milliseconds since 1970. */
  readonly triggerAt?: number
}

export interface SourceEndpoint {
  readonly address: string
  readonly conditions: Conditions
  readonly hostname?: string
  readonly zone?: string
  readonly pod?: string
}

interface Meta {
  readonly uid: string
  readonly name: string
  readonly namespace: string
  readonly resourceVersion: string
  readonly annotations?: Readonly<Record<string, string>>
}

interface RawEndpoint {
  readonly addresses: readonly string[]
  readonly hostname?: string
  readonly zone?: string
  readonly targetRef?: { readonly kind?: string; readonly uid?: string }
}

/** @throws z.ZodError where `raw` is no EndpointSlice */
export function sourceSlice(raw: unknown): SourceSlice {
  const slice = parseSlice(raw)
  const { labels = {}, annotations, ...identity } = slice.metadata as unknown as Meta & { labels?: Record<string, string> }
  const service = labels[SERVICE_NAME]
  // The endpoints of other clusters are copied from these clusters. Two clusters that copy from each other would go round in a circle.
  const isCopy = labels[SLICE_MANAGED_BY] === SYNC_MANAGER || labels[SOURCE_CLUSTER] !== undefined
  const triggerAt = Date.parse(annotations?.[TRIGGER_TIME] ?? '')
  const isAddress = slice.addressType === 'IPv4' || slice.addressType === 'IPv6'
  return {
    ...identityOf(identity),
    ...(service === undefined || isCopy ? {} : { service }),
    addressType: slice.addressType as AddressType,
    ports: (slice.ports ?? []).map(portOf),
    endpoints: isAddress && !isCopy && service !== undefined ? (slice.endpoints ?? []).flatMap(endpointOf) : [],
    canBeCopied: isAddress && (slice.ports ?? []).every(({ port }) => port !== undefined),
    ...(Number.isNaN(triggerAt) ? {} : { triggerAt }),
  }
}

function endpointOf(endpoint: RawEndpoint): SourceEndpoint[] {
  const { addresses, hostname, zone, targetRef } = endpoint
  const [address] = addresses
  if (address === undefined) return []
  const pod = targetRef?.kind === 'Pod' ? targetRef.uid : undefined
  return [
    {
      address,
      conditions: conditionsOf(endpoint),
      ...(hostname ? { hostname } : {}),
      ...(zone ? { zone } : {}),
      ...(pod === undefined ? {} : { pod }),
    },
  ]
}

export interface ServiceRecord extends ObjectRecord {
  readonly service: SourceService
}

/** @throws z.ZodError where `raw` is no Service */
export function sourceService(raw: unknown): ServiceRecord {
  const { metadata, spec } = parseService(raw)
  const ports = (spec.ports ?? []).map(({ name, port, protocol, appProtocol }) => ({
    ...(name === undefined ? {} : { name }),
    port,
    ...(protocol === undefined ? {} : { protocol }),
    ...(appProtocol === undefined ? {} : { appProtocol }),
  }))
  const service: SourceService = {
    ports,
    isHeadless: spec.clusterIP === 'None',
    ...(spec.ipFamilies === undefined ? {} : { families: spec.ipFamilies }),
    ...(spec.type === 'ExternalName' ? { isExternalName: true } : {}),
  }
  return { ...identityOf(metadata as unknown as Meta), service }
}

export interface PodRecord extends ObjectRecord {
  readonly isUpgrading: boolean
}

/** @throws z.ZodError where `raw` is no Pod */
export function sourcePod(raw: unknown): PodRecord {
  const view = podView(raw)
  const { uid, name, namespace, resourceVersion } = view
  return { uid, name, namespace, resourceVersion, isUpgrading: isOut(journalOf(view)) }
}

/**
 * An upgrade has the pod out from its durable drain intent until its restore intent, which is written once the new containers are ready. From
 * then on the readiness of the pod counts: the load balancers that the upgrade waits for may read the copies.
 */
function isOut(read: ReadJournal): boolean {
  if (read.kind !== 'read') return false
  const { step, undrained } = read.journal
  return undrained === undefined && (step === 'drain' || step === 'patched')
}

function identityOf({ uid, name, namespace, resourceVersion }: Meta): ObjectRecord {
  return { uid, name, namespace, resourceVersion }
}
