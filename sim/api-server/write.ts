import type { Random } from '../../src/ports/random.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { withDefaults } from './defaults.ts'
import { newUid, timestamp } from './identity.ts'
import type { Kind } from './kinds.ts'
import { badRequest, conflict, invalid, MODIFIED } from './refusal.ts'
import { isSameJson } from './same-json.ts'
import type { KubeObject, NewObject, ObjectMeta } from './server.ts'

/** A new object as it is stored, but for its resourceVersion. */
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

/** An update as it was asked for. */
export interface Update {
  kind: Kind
  before: KubeObject
  wanted: KubeObject
  subresource: string | undefined
}

/**
 * What an update comes to: identity and clock of the object are the server's, and an update of the object does not touch
 * its status, nor one of the status the rest. The very object `before` where nothing changes.
 * @throws Refusal 409, 422, 400
 */
export function updated({ kind, before, wanted, subresource }: Update): KubeObject {
  const { metadata } = wanted
  const { name } = before.metadata
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name ?? ''}) does not match the name on the URL (${name})`)
  }
  if (metadata.uid && metadata.uid !== before.metadata.uid) {
    throw conflict(
      kind,
      name,
      `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${before.metadata.uid}`,
    )
  }
  const { resourceVersion } = before.metadata
  if (!metadata.resourceVersion && !kind.unconditionalUpdate) {
    const message = 'Invalid value: 0: must be specified for an update'
    throw invalid(kind, name, [{ type: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' }])
  }
  if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion) throw conflict(kind, name, MODIFIED)

  const object = {
    ...wanted,
    ...ownedElsewhere(kind, before, wanted, subresource),
    metadata: metadataOf(before, metadata, kind, subresource),
  }
  const complete = subresource === undefined ? withDefaults(object) : object
  return withGeneration(kind, before, complete)
}

/** For writes that go past validation: kubelet's and the controllers' own. */
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
  // Labels and annotations are taken from a status update too; whatever else the object has stays.
  return { ...before, status: wanted['status'] }
}

function metadataOf(before: KubeObject, wanted: ObjectMeta, kind: Kind, subresource: string | undefined): ObjectMeta {
  const {
    uid,
    resourceVersion,
    creationTimestamp,
    generation,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    namespace,
    ownerReferences,
  } = before.metadata
  const metadata: ObjectMeta = { ...wanted, uid, resourceVersion, creationTimestamp }
  const kept: Partial<ObjectMeta> = {
    generation,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    namespace,
  } as Partial<ObjectMeta>
  // Old kubelets spoil the owner references, so a pod's status update does not touch them.
  if (subresource === 'status' && kind.kind === 'Pod')
    kept.ownerReferences = ownerReferences as NonNullable<typeof ownerReferences>
  if (subresource === 'status' && kind.kind === 'Deployment') kept.labels = before.metadata.labels as Record<string, string>
  for (const [field, value] of Object.entries(kept)) {
    if (value === undefined) delete metadata[field]
    else metadata[field] = value
  }
  // An empty map is stored as none.
  for (const field of ['labels', 'annotations'] as const) {
    if (metadata[field] === null || (metadata[field] !== undefined && Object.keys(metadata[field]).length === 0))
      delete metadata[field]
  }
  return metadata
}
