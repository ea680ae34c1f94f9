import type { ManagedFields } from '../stored.ts'

/** The time at which the kubelet wrote. */
export const AT = '2026-11-29T10:00:00Z'

/** The entry of the kubelet, as a real API server stores it. Other entries in the `managedFields` of the pod come after it. */
export function byKubelet(...types: string[]): ManagedFields {
  const conditions = Object.fromEntries(types.map((type) => [`k:${JSON.stringify({ type })}`, { 'f:status': {}, 'f:type': {} }]))
  const status = { 'f:conditions': conditions, 'f:containerStatuses': {}, 'f:podIP': {}, 'f:startTime': {} }
  return { manager: 'kubelet', time: AT, fieldsV1: { 'f:status': status } }
}

export function writtenBy(manager: string, fieldsV1: object, time = '2026-11-29T10:05:00Z'): ManagedFields {
  return { manager, time, fieldsV1 }
}

/** The fields of condition Ready alone. */
export const READY_FIELDS = { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { 'f:status': {} } } } }
