import { mergeRights, type Right, type RightsFor } from '../../engine/rights.ts'
import { isPod } from '../../workloads/kinds/pod.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'

const LIST = ['list']

/** The rights that `explain` uses; they allow no change. Only the right to get the requested pod or Service is required. */
export interface RightsOfExplain {
  /** The rights in the namespace of the object. */
  inNamespace: Right[]
  /** The rights for objects without a namespace. */
  ofCluster: Right[]
  /** The rights in the namespace of the Leases of nodes. */
  ofHeartbeats: Right[]
}

/** Without workloads, the rights cover each kind, and any name. */
export function rightsOfExplain(workloads: readonly RightsFor[], kinds: Kinds): RightsOfExplain {
  const asked = workloads.length > 0 ? workloads : kinds.all.map((kind) => ({ kind }))
  const owners = asked.filter(({ kind }) => !isPod(kind))
  const between = kinds.all.flatMap(({ mechanism }) => (mechanism?.type === 'pods-alone' ? [mechanism.through] : []))
  return {
    inNamespace: mergeRights([
      { group: '', resource: 'pods', verbs: ['get', 'list'], why: 'The pods, and who has written their conditions.' },
      { group: '', resource: 'services', verbs: ['get', 'list'], why: 'The Services that select them.' },
      { group: 'discovery.k8s.io', resource: 'endpointslices', verbs: LIST, why: 'Endpoints as gateways read them.' },
      { group: '', resource: 'endpoints', verbs: LIST, why: 'Endpoints as older programs read them, with their writers.' },
      ...owners.map(({ kind: { group, plural }, name }: RightsFor): Right => ({
        group,
        resource: plural,
        verbs: ['get'],
        ...(name === undefined ? {} : { names: [name] }),
        why: 'How many pods it is to have.',
      })),
      ...between.map(({ group, plural }): Right => ({ group, resource: plural, verbs: LIST, why: 'The workload of a pod.' })),
      { group: '', resource: 'configmaps', verbs: LIST, why: 'The ledgers of runs, for the run that has a pod.' },
      { group: 'coordination.k8s.io', resource: 'leases', verbs: LIST, why: 'The process that has the run.' },
    ]),
    ofCluster: [{ group: '', resource: 'nodes', verbs: ['get', 'list'], why: 'The nodes of the pods: whether they are Ready.' }],
    ofHeartbeats: [{ group: 'coordination.k8s.io', resource: 'leases', verbs: ['get'], why: 'When a node was last heard.' }],
  }
}
