import type { Right } from '../engine/rights.ts'
import { isTemplateWritten } from '../workloads/kinds/kind.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'

const LIST = ['list']

/**
 * The rights to read a whole cluster, for a ClusterRole; they allow no change. ConfigMaps may hold secrets of others, so the rights to
 * read the records are in a Role of their namespace.
 */
export function rightsOfDoctor(kinds: Kinds): Right[] {
  return [
    { group: '', resource: 'pods', verbs: LIST, why: 'The pods behind Services and load balancers, and the pod of each server.' },
    { group: '', resource: 'services', verbs: LIST, why: 'Services with a selector, and without one.' },
    { group: 'discovery.k8s.io', resource: 'endpointslices', verbs: LIST, why: 'Endpoints as gateways read them.' },
    { group: '', resource: 'endpoints', verbs: LIST, why: 'Endpoints as older programs read them, with their writers.' },
    { group: '', resource: 'nodes', verbs: LIST, why: 'Whether they are Ready, and the versions of their kubelets.' },
    { group: '', resource: 'namespaces', verbs: LIST, why: 'The namespaces that webhooks are asked about.' },
    {
      group: 'coordination.k8s.io',
      resource: 'leases',
      verbs: LIST,
      why: 'Heartbeats of nodes, whether the control plane is at work, and who has a run.',
    },
    { group: '', resource: 'events', verbs: LIST, why: 'Nodes that were silent and came back.' },
    {
      group: 'admissionregistration.k8s.io',
      resource: 'validatingwebhookconfigurations',
      verbs: LIST,
      why: 'Webhooks that can keep pods and endpoints from being written.',
    },
    { group: 'admissionregistration.k8s.io', resource: 'mutatingwebhookconfigurations', verbs: LIST, why: 'The same.' },
    { group: 'policy', resource: 'poddisruptionbudgets', verbs: LIST, why: 'Budgets that let no pod go.' },
    ...kinds.all.filter(isTemplateWritten).map(({ group, plural }): Right => ({
      group,
      resource: plural,
      verbs: LIST,
      why: 'Whether they replace their pods by themselves.',
    })),
  ]
}

/** The rights in the namespace that is examined, for its records and the Service of `--probe`. */
export function rightsOfDoctorIn(kinds: Kinds): Right[] {
  const between = kinds.all.flatMap(({ mechanism }) => (mechanism?.type === 'pods-alone' ? [mechanism.through] : []))
  return [
    { group: '', resource: 'configmaps', verbs: LIST, why: 'The ledgers of runs: what is left open, and what nobody needs.' },
    ...between.map(({ group, plural }): Right => ({ group, resource: plural, verbs: LIST, why: 'The workload of a pod.' })),
    { group: '', resource: 'services', verbs: ['create', 'delete'], why: 'The Service of --probe, which is removed at once.' },
  ]
}
