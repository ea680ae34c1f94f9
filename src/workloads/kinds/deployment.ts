import { byAddress } from '../../pods/heir.ts'
import type { KindName } from '../../pods/workload-id.ts'
import type { Kind, KindRight } from './kind.ts'

export const DEPLOYMENT: KindName = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' }
export const REPLICA_SET: KindName = { group: 'apps', version: 'v1', kind: 'ReplicaSet', plural: 'replicasets' }

const READS: Pick<KindRight, 'group' | 'verbs' | 'why'> = {
  group: 'apps',
  verbs: ['list', 'watch'],
  why: 'The Deployment of a pod, to refuse while a rollout replaces pods. Never written.',
}

/** The pods of a Deployment belong to its ReplicaSets. The name of a ReplicaSet is the name of the Deployment and a hash. */
export const deployment: Kind = {
  ...DEPLOYMENT,
  shortNames: ['deploy'],
  mechanism: { type: 'pods-alone', through: { ...REPLICA_SET, workloadName: (name) => name.replace(/-[^-]+$/, '') } },
  isHeir: byAddress,
  first: 'lowest',
  rights: [
    { ...READS, resource: DEPLOYMENT.plural, isOfWorkload: true },
    { ...READS, resource: REPLICA_SET.plural },
  ],
}
