import type { Right } from '../../engine/rights.ts'

const VERBS = ['list', 'watch']

/** The rights that an observer needs in a whole cluster, for a ClusterRole. An observer changes nothing. */
export function rightsOfObserver(): Right[] {
  return [
    { group: '', resource: 'pods', verbs: VERBS, why: 'Their addresses and conditions, which endpoints are to follow.' },
    { group: '', resource: 'nodes', verbs: VERBS, why: 'Late heartbeats, and the addresses of nodes behind load balancers.' },
    { group: '', resource: 'services', verbs: VERBS, why: 'The pods that each of them selects.' },
    { group: 'discovery.k8s.io', resource: 'endpointslices', verbs: VERBS, why: 'Endpoints as gateways read them.' },
    { group: '', resource: 'endpoints', verbs: VERBS, why: 'Endpoints as older programs read them, with their writers.' },
    {
      group: 'coordination.k8s.io',
      resource: 'leases',
      verbs: VERBS,
      isOptional: true,
      why: 'For --metrics-listen: heartbeats of nodes, and the leaders of the control plane.',
    },
  ]
}
