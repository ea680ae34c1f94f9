import type { Right } from '../engine/rights.ts'

/** The rights of `sluice sync` in the access cluster. */
export interface SyncRights {
  /** In each namespace with a synced Service. */
  readonly inNamespace: readonly Right[]
  /** In the namespace of sync itself. */
  readonly inOwn: readonly Right[]
  readonly ofCluster: readonly Right[]
}

/** The objects of sync, by the names that deploy/sync gives them. */
export const SYNC_NAMES = { account: 'sluice-sync', namespace: 'sluice-sync', lease: 'sluice-sync' } as const

const WATCH = ['list', 'watch']

export function rightsOfSync(): SyncRights {
  return {
    inNamespace: [
      {
        group: '',
        resource: 'services',
        verbs: [...WATCH, 'create'],
        why: 'The Services without a selector that the copies are for. Create, for a Service whose config has `create`.',
      },
      {
        group: 'discovery.k8s.io',
        resource: 'endpointslices',
        verbs: ['get', ...WATCH, 'create', 'update', 'delete'],
        why: 'The copies. The names of the copies are not known before, so that no name can restrict this.',
      },
    ],
    inOwn: [
      {
        group: 'coordination.k8s.io',
        resource: 'leases',
        verbs: ['create'],
        why: 'The replica that writes: a Lease. A name cannot restrict create.',
      },
      {
        group: 'coordination.k8s.io',
        resource: 'leases',
        verbs: ['get', 'update'],
        names: [SYNC_NAMES.lease],
        why: 'To hold the Lease.',
      },
    ],
    ofCluster: [
      {
        group: '',
        resource: 'namespaces',
        verbs: ['get'],
        why: 'To name a namespace that is missing. Namespaces are in no namespace, so this right is for the whole cluster.',
      },
    ],
  }
}

/** The rights of `sluice sync` in a source cluster: it changes nothing there. */
export function rightsOfSyncSource(): { inNamespace: readonly Right[]; ofCluster: readonly Right[] } {
  return {
    inNamespace: [
      { group: '', resource: 'services', verbs: WATCH, why: 'The Services whose endpoints are copied, and their ports.' },
      { group: 'discovery.k8s.io', resource: 'endpointslices', verbs: WATCH, why: 'The endpoints that are copied.' },
      {
        group: '',
        resource: 'pods',
        verbs: WATCH,
        isOptional: true,
        why: 'Optional: a pod under upgrade leaves at once by its journal. Without it the pod leaves by its readiness.',
      },
    ],
    ofCluster: [
      {
        group: '',
        resource: 'namespaces',
        verbs: ['get'],
        why: 'The UID of kube-system, by which a cluster that was made anew is told, and namespaces that are missing.',
      },
    ],
  }
}
