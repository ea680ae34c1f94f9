import type { PatchOperation } from '../kube/client.ts'
import type { WorkloadRecord } from './records.ts'

const ANNOTATION = 'sluice.dev/fence'
const PATH = `/metadata/annotations/${ANNOTATION.replaceAll('/', '~1')}`

/*
 * Found by simulation: an abort found the template as it was before the run, and left it so; then the patch arrived that a process
 * before had sent, and that nobody had answered. Nothing had changed since it was sent, so that all its guards held. Who
 * takes a template over as it is therefore sets a fence on its workload, and every patch of a template is guarded by the fence
 * that its sender saw.
 */

export function fenceOf({ annotations }: Pick<WorkloadRecord, 'annotations'>): string | undefined {
  return annotations[ANNOTATION]
}

/** Holds as long as no other fence was set since this was read. */
export function fenceGuard(workload: Pick<WorkloadRecord, 'annotations'>): PatchOperation {
  // A test below what is missing fails, also where nothing is what it asks for.
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
