/* The English of the language of rules, for its page: variables, fields, functions and shipped rules, by their names. */

export const variableWords: Readonly<Record<string, string>> = {
  endpoint: 'the endpoint that is decided about: one address of Endpoints, or one endpoint of an EndpointSlice',
  address: 'another name of `endpoint`',
  pod: 'the pod of the endpoint; `exists(pod)` is false where there is none',
  node: 'the node of the endpoint; `exists(node)` is false where it is not known',
  service: 'the Service of the object; `exists(service)` is false where it is not known',
  object: 'the EndpointSlice or Endpoints object',
  request: 'the write; `exists(request)` is false for a second look, which no write causes',
  now: 'the time of the decision',
}

/** The fields that their names and types do not explain, as TYPE.FIELD. */
export const fieldWords: Readonly<Record<string, string>> = {
  'Endpoint.address': 'the first address',
  'Endpoint.ready': 'as the writer of the object wishes it',
  'Endpoint.serving': 'as its writer wishes it; equal to `ready` in Endpoints',
  'Endpoint.terminating': 'always false in Endpoints',
  'EndpointsObject.kind': 'EndpointSlice or Endpoints',
  'EndpointsObject.addressType': 'missing in Endpoints',
  'EndpointsObject.ports': 'empty in Endpoints, which have them in each subset',
  'EndpointsObject.size': 'the number of endpoints',
  'Request.operation': 'CREATE or UPDATE',
}

/** By the signature of the function. */
export const functionWords: Readonly<Record<string, string>> = {
  'exists(Pod): bool': 'false for an endpoint without a pod, and for a pod that this process has not seen',
  'exists(Node): bool': 'false where the node is not known',
  'exists(Service): bool': 'false where the object names no Service, or the Service is not known',
  'exists(Condition): bool': 'false for a condition that the object does not have',
  'exists(Request): bool': 'false for a second look, which no request causes',
  'upgrading(Pod): bool':
    'sluice has the pod out of rotation for an upgrade: from the record of the drain until it is back in all its load balancers',
  'newContainerReady(Pod): bool':
    'the containers that the upgrade changes are replaced, and the pod is ready; for a pod without an upgrade, the pod is ready',
  'condition(Pod, string): Condition':
    'the condition of this type; where there is none, its status is `Unknown` and it has no `lastTransitionTime`',
  'condition(Node, string): Condition': 'the same for a node',
  'ageOf(Condition): google.protobuf.Duration': 'the time since `lastTransitionTime`; fails where the condition has none',
  'setBy(Pod, string): string':
    'the component that last wrote the status of this condition, by `managedFields`: `kubelet`, `controller-manager`, `sluice`, `person` (kubectl), `other`, or empty where it is not recorded',
  'nodeSilent(Pod): bool':
    'the node lifecycle controller has set `Ready` to False since the node does not report, while the containers are ready',
  'readyWithout(Pod, list<string>): bool':
    'the pod runs, and all other containers, sidecars and readiness gates are ready; false where no container is left',
  'podsOf(Service): int': 'the number of pods that the selector of the Service matches',
  'readyPodsOf(Service): int': 'the number of those pods whose condition `Ready` is True, whatever the rules decide',
  'glob(string, string): bool': 'the text matches the pattern, in which `*` stands for any text',
}

interface ShippedRuleWords {
  readonly says: string
  readonly parameters: Readonly<Record<string, string>>
}

export const shippedRuleWords: Readonly<Record<string, ShippedRuleWords>> = {
  'upgrading-not-ready': {
    says: 'A pod that sluice upgrades is not ready before its new container is, whatever its condition `Ready` says meanwhile.',
    parameters: {},
  },
  'late-heartbeat': {
    says: 'A pod whose `Ready` the node lifecycle controller has set to False keeps its place for `within`, while less than `floor` pods of the Service are ready.',
    parameters: {
      within: 'how long after its `Ready` became False a pod keeps its place, at most 24h',
      floor: 'a number of pods, or a percentage of the pods of the Service, such as "50%"',
    },
  },
  'container-does-not-count': {
    says: 'The containers that an annotation of the pod names, with commas between them, do not count for its readiness. The other containers and the readiness gates do.',
    parameters: { annotation: 'the annotation that names the containers; default: `sluice.dev/does-not-count`' },
  },
}
