import type { Service } from '../../endpoints/objects.ts'
import { parseEndpoints, parseNode, parsePod, parseService, parseSlice } from '../../endpoints/parse-objects.ts'
import type { StoredEndpoints, StoredNode, StoredPod, StoredSlice } from '../../endpoints/stored.ts'

/*
 * The fields of objects that rules and the controllers of endpoints read. The others are most of an object: with 5,000 pods, they would
 * be some hundred megabytes.
 */

/** The object has the fields of the API server, and no others than these. `true` keeps a field as it is. */
type Fields = { readonly [name: string]: true | Fields | readonly [Fields] }

const CONDITIONS = [{ type: true, status: true, reason: true, message: true, lastTransitionTime: true }] as const
const METADATA: Fields = {
  name: true,
  namespace: true,
  uid: true,
  resourceVersion: true,
  generation: true,
  creationTimestamp: true,
  deletionTimestamp: true,
  deletionGracePeriodSeconds: true,
  labels: true,
  annotations: true,
  finalizers: true,
  ownerReferences: true,
}
const CONTAINERS = [
  {
    name: true,
    image: true,
    restartPolicy: true,
    ports: [{ name: true, containerPort: true, protocol: true }],
  },
] as const
const CONTAINER_STATUSES = [
  {
    name: true,
    ready: true,
    started: true,
    restartCount: true,
    image: true,
    imageID: true,
    containerID: true,
    state: true,
    lastState: true,
  },
] as const

const POD: Fields = {
  metadata: METADATA,
  spec: {
    nodeName: true,
    hostNetwork: true,
    hostname: true,
    subdomain: true,
    restartPolicy: true,
    serviceAccountName: true,
    priorityClassName: true,
    containers: CONTAINERS,
    initContainers: CONTAINERS,
    readinessGates: true,
  },
  status: {
    phase: true,
    podIP: true,
    podIPs: true,
    hostIP: true,
    hostIPs: true,
    startTime: true,
    qosClass: true,
    observedGeneration: true,
    conditions: CONDITIONS,
    containerStatuses: CONTAINER_STATUSES,
    initContainerStatuses: CONTAINER_STATUSES,
  },
}
const NODE: Fields = { metadata: METADATA, spec: { unschedulable: true, taints: true }, status: { conditions: CONDITIONS } }
const REFERENCE: Fields = { kind: true, namespace: true, name: true, uid: true }
const SLICE: Fields = {
  metadata: METADATA,
  addressType: true,
  ports: true,
  endpoints: [{ addresses: true, conditions: true, targetRef: REFERENCE, hostname: true, nodeName: true, zone: true }],
}
const ADDRESSES = [{ ip: true, targetRef: REFERENCE, hostname: true, nodeName: true }] as const
const ENDPOINTS: Fields = {
  metadata: METADATA,
  subsets: [{ addresses: ADDRESSES, notReadyAddresses: ADDRESSES, ports: true }],
}
const SERVICE: Fields = {
  metadata: METADATA,
  spec: {
    type: true,
    clusterIP: true,
    ipFamilies: true,
    selector: true,
    ports: true,
    publishNotReadyAddresses: true,
    externalTrafficPolicy: true,
    internalTrafficPolicy: true,
  },
}
/** The annotation of `kubectl apply` repeats the whole object. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** @throws z.ZodError where `raw` is no Pod; the other functions throw it for their kinds */
export function keptPod(raw: unknown): StoredPod {
  const pod = kept(parsePod(raw), POD)
  return { ...pod, metadata: { ...pod.metadata, ...conditionWriters(raw) } }
}

export function keptNode(raw: unknown): StoredNode {
  return kept(parseNode(raw), NODE)
}

export function keptService(raw: unknown): Service {
  return kept(parseService(raw), SERVICE)
}

export function keptSlice(raw: unknown): StoredSlice {
  return withLastWrite(kept(parseSlice(raw), SLICE), raw)
}

export function keptEndpoints(raw: unknown): StoredEndpoints {
  return withLastWrite(kept(parseEndpoints(raw), ENDPOINTS), raw)
}

function kept<T extends object>(object: T, fields: Fields): T {
  const picked = pick(object, fields) as { metadata: { annotations?: Record<string, string> } }
  const { annotations } = picked.metadata
  if (annotations !== undefined && LAST_APPLIED in annotations) {
    // The name stays: an object with this annotation alone has annotations, which a patch of the object must know.
    picked.metadata.annotations = { ...annotations, [LAST_APPLIED]: '' }
  }
  return picked as T
}

function pick(value: unknown, fields: Fields): unknown {
  const picked: Record<string, unknown> = {}
  for (const [name, of] of Object.entries(fields)) {
    const part = (value as Record<string, unknown>)[name]
    if (part === undefined) continue
    if (of === true) picked[name] = part
    else if (isList(of)) picked[name] = Array.isArray(part) ? part.map((one) => pick(one, of[0])) : part
    else picked[name] = pick(part, of)
  }
  return picked
}

function isList(fields: Fields | readonly [Fields]): fields is readonly [Fields] {
  return Array.isArray(fields)
}

/**
 * The managers of the conditions of a pod, by which a rule tells the node lifecycle controller from the kubelet. Pods of one workload share
 * the field sets, so that equal ones are stored once.
 */
function conditionWriters(raw: unknown): Pick<StoredPod['metadata'], 'managedFields'> {
  const { managedFields } = (raw as StoredPod).metadata
  if (!Array.isArray(managedFields)) return {}
  const some = managedFields.flatMap(({ manager, time, subresource, fieldsV1 }: ManagedFields) => {
    const conditions = fieldsV1?.['f:status']?.['f:conditions']
    if (conditions === undefined) return []
    const shared = interned({ 'f:status': { 'f:conditions': conditions } })
    return [{ ...defined({ manager, time, subresource }), fieldsV1: shared }]
  })
  return some.length === 0 ? {} : { managedFields: some }
}

/** The time of the last write is all that is kept of the managers. */
function withLastWrite<T extends StoredSlice | StoredEndpoints>(object: T, raw: unknown): T {
  const { managedFields } = (raw as T).metadata
  if (!Array.isArray(managedFields)) return object
  const times = managedFields.flatMap(({ time }: ManagedFields) => (time === undefined ? [] : [time]))
  // Times of the API server are in UTC, so that their texts are in their order.
  const last = times.toSorted().at(-1)
  return last === undefined ? object : { ...object, metadata: { ...object.metadata, managedFields: [{ time: last }] } }
}

interface ManagedFields {
  manager?: string
  time?: string
  subresource?: string
  fieldsV1?: { 'f:status'?: { 'f:conditions'?: unknown } }
}

const MOST_INTERNED = 1_000
const shapes = new Map<string, unknown>()

function interned(value: unknown): unknown {
  const key = JSON.stringify(value)
  const known = shapes.get(key)
  if (known !== undefined) return known
  if (shapes.size >= MOST_INTERNED) shapes.clear()
  shapes.set(key, value)
  return value
}

function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>
}
