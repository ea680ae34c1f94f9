import type { KubeObject, Store } from '../api-server/server.ts'
import { isSameJson } from '../api-server/same-json.ts'
import { type WorkloadObject, controllerOf, ownerReference, templateHash } from './workload.ts'

export interface Revision extends KubeObject {
  revision: number
  data: { spec: { template: unknown } }
}

const HISTORY_LIMIT = 10

/**
 * Returns the revision of the present template, and creates it if necessary. A former template of the workload keeps the name and hash of
 * its revision; only the number rises.
 */
export function currentRevision(store: Store, owner: WorkloadObject, label: string, by: string): Revision {
  const all = revisionsOf(store, owner)
  const data = { spec: { template: { ...owner.spec.template, $patch: 'replace' } } }
  const last = all.at(-1)?.revision ?? 0
  const equal = all.find((one) => isSameJson(one.data, data))
  if (equal !== undefined) {
    if (equal.revision === last) return equal
    const { namespace = 'default', name } = equal.metadata
    return store.update('controllerrevisions.apps', namespace, name, (now) => ({ ...now, revision: last + 1 }), by) as Revision
  }
  const hash = templateHash(owner.spec.template)
  return store.create(
    'controllerrevisions.apps',
    {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name: `${owner.metadata.name}-${hash}`,
        namespace: owner.metadata.namespace ?? 'default',
        labels: { ...owner.spec.template.metadata?.labels, [label]: hash },
        ownerReferences: [ownerReference(owner)],
      },
      data,
      revision: last + 1,
    },
    by,
  ) as Revision
}

/** Returns the revisions in the order of their numbers. */
export function revisionsOf(store: Store, owner: KubeObject): Revision[] {
  const all = store.list('controllerrevisions.apps', owner.metadata.namespace) as Revision[]
  return all.filter((one) => controllerOf(one)?.uid === owner.metadata.uid).sort((a, b) => a.revision - b.revision)
}

/** Removes the oldest revisions without pods, beyond the limit. */
export function truncateRevisions(
  store: Store,
  owner: WorkloadObject,
  isLive: (revision: Revision) => boolean,
  by: string,
): void {
  const idle = revisionsOf(store, owner).filter((one) => !isLive(one))
  const excess = idle.length - (owner.spec.revisionHistoryLimit ?? HISTORY_LIMIT)
  for (const { metadata } of idle.slice(0, Math.max(excess, 0))) {
    store.remove('controllerrevisions.apps', metadata.namespace ?? 'default', metadata.name, by)
  }
}
