import { byName } from '../../pods/heir.ts'
import { isSameKind, type KindName, type WorkloadId } from '../../pods/workload-id.ts'
import type { Kind } from './kind.ts'

export const POD: KindName = { group: '', version: 'v1', kind: 'Pod', plural: 'pods' }

/** A pod stands for what owns it; a bare one, which somebody may make again under its name, for itself. */
export const pod: Kind = {
  ...POD,
  shortNames: ['po'],
  isHeir: byName,
  first: 'lowest',
  // What stands above a pod is not known beforehand: name its kind too.
  rights: [],
}

export function isPod(ref: Pick<KindName, 'group' | 'kind'>): boolean {
  return isSameKind(ref, POD)
}

/** A bare pod, as the workload that it is. */
export function podId(name: string): WorkloadId {
  return { ...POD, name }
}
