import type { Writer } from '../reasons/fields.ts'
import { ENDPOINTS_MANAGED_BY, TRIGGER_TIME } from './endpoint-labels.ts'
import type { ManagedFields } from './stored.ts'

/** The path of a field in `fieldsV1`, such as `['f:status', 'f:podIP']`. */
export type FieldPath = readonly string[]

export interface Ownership {
  /** The component that the fields belong to. */
  is: 'kubelet' | 'controller-manager'
  /** Fields that no other client writes. Their owner is that component, whatever name it uses. */
  marks: readonly FieldPath[]
}

/** The kubelet of a distribution may be a part of a larger program, and use its name. */
export const KUBELET: Ownership = {
  is: 'kubelet',
  marks: [
    ['f:status', 'f:containerStatuses'],
    ['f:status', 'f:podIP'],
    ['f:status', 'f:startTime'],
  ],
}

export const SLICE_CONTROLLER_WRITES: Ownership = {
  is: 'controller-manager',
  marks: [['f:metadata', 'f:ownerReferences']],
}

export const ENDPOINTS_CONTROLLER_WRITES: Ownership = {
  is: 'controller-manager',
  marks: [
    ['f:metadata', 'f:labels', `f:${ENDPOINTS_MANAGED_BY}`],
    ['f:metadata', 'f:annotations', `f:${TRIGGER_TIME}`],
  ],
}

const ADDRESSES = {
  EndpointSlice: { path: ['f:endpoints'], ownership: SLICE_CONTROLLER_WRITES },
  Endpoints: { path: ['f:subsets'], ownership: ENDPOINTS_CONTROLLER_WRITES },
}

const NAMES: Readonly<Record<string, Writer['is']>> = {
  kubelet: 'kubelet',
  'kube-controller-manager': 'controller-manager',
  'endpoint-controller': 'controller-manager',
  sluice: 'sluice',
}

/** Programs that the kubelet and the controllers are parts of. */
const WHOLES: ReadonlySet<string> = new Set(['hyperkube', 'k0s', 'k3s', 'kubelite'])

/** The client that last changed this field; undefined where the object does not record it. */
export function writerOf(all: readonly ManagedFields[] = [], path: FieldPath, ownership: Ownership): Writer | undefined {
  // A field has several owners where each has applied an equal value.
  return lastOf(
    all.filter((entry) => owns(entry, path)),
    all,
    ownership,
  )
}

/** The client that last changed the object. Times are in whole seconds, so the later entry wins a tie. */
export function lastWriterOf(all: readonly ManagedFields[] = [], ownership: Ownership): Writer | undefined {
  return lastOf(all.toReversed(), all, ownership)
}

/**
 * The client that wrote the addresses of an EndpointSlice or of Endpoints. Addresses that are gone have no owner, so an object without
 * addresses names the client that last changed the object.
 */
export function addressWriterOf(
  kind: 'EndpointSlice' | 'Endpoints',
  all: readonly ManagedFields[] | undefined,
  isEmpty: boolean,
): Writer | undefined {
  const { path, ownership } = ADDRESSES[kind]
  return writerOf(all, path, ownership) ?? (isEmpty ? lastWriterOf(all, ownership) : undefined)
}

function lastOf(some: readonly ManagedFields[], all: readonly ManagedFields[], ownership: Ownership): Writer | undefined {
  const last = some.reduce<ManagedFields | undefined>(
    (best, one) => (best === undefined || (one.time ?? '') > (best.time ?? '') ? one : best),
    undefined,
  )
  if (last?.manager === undefined) return undefined
  const { manager, time } = last
  return { manager, is: classOf(manager, all, ownership), ...(time === undefined ? {} : { at: time }) }
}

export function conditionPath(type: string): FieldPath {
  return ['f:status', 'f:conditions', `k:${JSON.stringify({ type })}`, 'f:status']
}

function classOf(manager: string, all: readonly ManagedFields[], { is, marks }: Ownership): Writer['is'] {
  const known = NAMES[manager]
  if (known !== undefined) return known
  if (WHOLES.has(manager)) return is
  if (manager.startsWith('kubectl')) return 'person'
  const isOwn = all.some((entry) => entry.manager === manager && marks.some((mark) => owns(entry, mark)))
  return isOwn ? is : 'other'
}

function owns({ fieldsV1 }: ManagedFields, path: FieldPath): boolean {
  let below = fieldsV1
  for (const name of path) {
    if (typeof below !== 'object' || below === null || !Object.hasOwn(below, name)) return false
    below = (below as Record<string, unknown>)[name]
  }
  return true
}
