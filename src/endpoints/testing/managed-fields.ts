import type { ManagedFields } from '../stored.ts'

/** When the kubelet has written. */
export const AT = '2026-11-29T10:00:00Z'

/** Written by the kubelet, as a real API server keeps it; more of the same pod's `managedFields` come after. */
export function byKubelet(...types: string[]): ManagedFields {
  const conditions = Object.fromEntries(types.map((type) => [`k:${JSON.stringify({ type })}`, { 'f:status': {}, 'f:type': {} }]))
  const status = { 'f:conditions': conditions, 'f:containerStatuses': {}, 'f:podIP': {}, 'f:startTime': {} }
  return { manager: 'kubelet', time: AT, fieldsV1: { 'f:status': status } }
}

export function writtenBy(manager: string, fieldsV1: object, time = '2026-11-29T10:05:00Z'): ManagedFields {
  return { manager, time, fieldsV1 }
}

/** Condition Ready alone. */
export const READY_FIELDS = { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { 'f:status': {} } } } }
