import { byName } from '../../pods/heir.ts'
import { isSameKind, type KindName, type WorkloadId } from '../../pods/workload-id.ts'
import type { Kind } from './kind.ts'

export const POD: KindName = { group: '', version: 'v1', kind: 'Pod', plural: 'pods' }

/** A pod in a request stands for its owner. A bare pod stands for itself, and may be created again under its name. */
export const pod: Kind = {
  ...POD,
  shortNames: ['po'],
  isHeir: byName,
  first: 'lowest',
  // The owner of a pod is not known in advance, so the request for rights must name the kind of the owner too.
  rights: [],
}

export function isPod(ref: Pick<KindName, 'group' | 'kind'>): boolean {
  return isSameKind(ref, POD)
}

/** The id of a bare pod as a workload. */
export function podId(name: string): WorkloadId {
  return { ...POD, name }
}
