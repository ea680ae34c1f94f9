import type { PatchOperation } from '../kube/client.ts'
import type { WorkloadRecord } from './records.ts'

const ANNOTATION = 'sluice.dev/fence'
const PATH = `/metadata/annotations/${ANNOTATION.replaceAll('/', '~1')}`

/*
 * A patch of a former process may arrive late, after an abort has found the template in its original state and left it so. All other guards
 * of that patch still hold, because nothing has changed since it was sent. So a process that takes over a template without writing it sets
 * a fence on the workload, and every patch of a template tests the fence that its sender saw.
 */

export function fenceOf({ annotations }: Pick<WorkloadRecord, 'annotations'>): string | undefined {
  return annotations[ANNOTATION]
}

/** A test that holds as long as no other fence was set since the workload was read. */
export function fenceGuard(workload: Pick<WorkloadRecord, 'annotations'>): PatchOperation {
  // A JSON Patch test below a missing parent fails, even a test for null.
  if (hasNone(workload)) return { op: 'test', path: '/metadata/annotations', value: null }
  return { op: 'test', path: PATH, value: fenceOf(workload) ?? null }
}

export function setFence(workload: Pick<WorkloadRecord, 'annotations'>, fence: string): PatchOperation {
  if (hasNone(workload)) return { op: 'add', path: '/metadata/annotations', value: { [ANNOTATION]: fence } }
  return { op: 'add', path: PATH, value: fence }
}

function hasNone({ annotations }: Pick<WorkloadRecord, 'annotations'>): boolean {
  return Object.keys(annotations).length === 0
}
