import type { Random } from '../../src/ports/random.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { withDefaults } from './defaults.ts'
import { newUid, timestamp } from './identity.ts'
import type { Kind } from './kinds.ts'
import { conflict, invalid, MODIFIED } from './refusal.ts'
import { isSameJson } from './same-json.ts'
import type { KubeObject, NewObject, ObjectMeta } from './server.ts'

/** Returns a new object as it is stored, without its resourceVersion. */
export function created(kind: Kind, object: NewObject, ports: { clock: Clock; random: Random }): KubeObject {
  const { status, ...rest } = object
  const metadata: ObjectMeta = {
    ...object.metadata,
    uid: object.metadata.uid ?? newUid(ports.random),
    resourceVersion: '',
    creationTimestamp: object.metadata.creationTimestamp ?? timestamp(ports.clock.wallNow()),
    ...(kind.isNewGeneration === undefined ? {} : { generation: 1 }),
  }
  const base = withDefaults({ ...rest, apiVersion: kind.apiVersion, kind: kind.kind, metadata })
  if (!kind.hasStatus) return status === undefined ? base : { ...base, status }
  return { ...base, status: status ?? initialStatus(kind) }
}

function initialStatus({ kind }: Kind): unknown {
  switch (kind) {
    case 'Pod':
      return { phase: 'Pending', qosClass: 'BestEffort' }
    case 'Namespace':
      return { phase: 'Active' }
    case 'Service':
      return { loadBalancer: {} }
    default:
      return {}
  }
}

/** The request for an update. */
export interface Update {
  kind: Kind
  before: KubeObject
  wanted: KubeObject
  subresource: string | undefined
}

/**
 * Returns the object after an update. Identity and timestamps belong to the server. An update of the object keeps the status, and an update
 * of the status keeps the rest. The very object `before` is returned where nothing changes.
 * @throws Refusal 409, 422
 */
export function updated({ kind, before, wanted, subresource }: Update): KubeObject {
  const { metadata } = wanted
  const { name, resourceVersion } = before.metadata
  expectVersion(kind, name, metadata.resourceVersion)
  if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion) throw conflict(kind, name, MODIFIED)

  const object = {
    ...wanted,
    ...ownedElsewhere(kind, before, wanted, subresource),
    metadata: metadataOf(before.metadata, metadata, kind, subresource),
  }
  const complete = subresource === undefined ? withDefaults(object) : object
  return withGeneration(kind, before, complete)
}

/** Refuses an update without a resourceVersion for kinds that require one. @throws Refusal 422 */
export function expectVersion(kind: Kind, name: string, resourceVersion: string | undefined): void {
  if (resourceVersion || kind.unconditionalUpdate) return
  const message = 'Invalid value: 0: must be specified for an update'
  // The storage makes this message, and it knows the resource instead of the kind.
  throw invalid({ kind: kind.plural, group: kind.group }, name, [
    { type: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' },
  ])
}

/** Raises the generation where needed. Direct writes of kubelet and controllers use it, since they skip validation. */
export function withGeneration(kind: Kind, before: KubeObject, after: KubeObject): KubeObject {
  if (isSameJson(before, after)) return before
  const { generation } = before.metadata
  if (generation === undefined || !kind.isNewGeneration?.(before, after)) return after
  return { ...after, metadata: { ...after.metadata, generation: generation + 1 } }
}

function ownedElsewhere(
  { hasStatus }: Kind,
  before: KubeObject,
  wanted: KubeObject,
  subresource: string | undefined,
): Partial<KubeObject> {
  if (subresource !== 'status') return hasStatus ? { status: before['status'] } : {}
  // A status update also takes labels and annotations (`NOT_BY_STATUS` lists the exceptions). All other fields stay.
  return { ...before, status: wanted['status'] }
}

/** Metadata that the server alone decides. The uid is missing here: validation refuses another uid. */
const SERVERS_OWN = [
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'namespace',
]
/** Metadata that an update of the status also keeps. Old kubelets spoil the owner references of pods. */
const NOT_BY_STATUS: Record<string, string> = { Pod: 'ownerReferences', Deployment: 'labels' }

function metadataOf(before: ObjectMeta, wanted: ObjectMeta, { kind }: Kind, subresource: string | undefined): ObjectMeta {
  const metadata: ObjectMeta = { ...wanted, uid: wanted.uid || before.uid }
  const kept = subresource === 'status' ? NOT_BY_STATUS[kind] : undefined
  for (const field of kept === undefined ? SERVERS_OWN : [...SERVERS_OWN, kept]) {
    if (before[field] !== undefined) metadata[field] = before[field]
    else if (field in metadata) delete metadata[field]
  }
  for (const field of ['labels', 'annotations']) if (isEmpty(metadata[field])) delete metadata[field]
  return metadata
}

/** Reports whether a map is empty: it is stored as absent. */
function isEmpty(map: unknown): boolean {
  return map === null || (typeof map === 'object' && Object.keys(map).length === 0)
}
