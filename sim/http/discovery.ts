import { KINDS } from '../api-server/kinds.ts'

/** The abbreviations of kubectl. */
const SHORT_NAMES: Record<string, string[]> = {
  pods: ['po'],
  services: ['svc'],
  nodes: ['no'],
  namespaces: ['ns'],
  configmaps: ['cm'],
  events: ['ev'],
  statefulsets: ['sts'],
  daemonsets: ['ds'],
  deployments: ['deploy'],
  replicasets: ['rs'],
}
/** The resources that `kubectl get all` shows. */
const ALL = new Set(['pods', 'services', 'statefulsets', 'daemonsets', 'deployments', 'replicasets'])
export const SCALABLE: ReadonlySet<string> = new Set(['statefulsets', 'deployments', 'replicasets'])
const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']
const OF_PART = ['get', 'patch', 'update']
const REVIEW = 'authorization.k8s.io/v1'

export const apiVersions: readonly string[] = [...new Set(KINDS.map(({ apiVersion }) => apiVersion))]

/** Returns the answers to discovery, by path: a client asks for them to learn the served kinds. */
export function discoveryPages(): [string, unknown][] {
  const groups = [...apiVersions.filter((apiVersion) => apiVersion.includes('/')), REVIEW]
  return [
    ['/api', { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }],
    ['/apis', { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupOf) }],
    ...groups.map((groupVersion): [string, unknown] => [`/apis/${groupVersion.split('/', 1)[0]}`, groupOf(groupVersion)]),
    ...apiVersions.map((apiVersion): [string, unknown] => [
      pathOf(apiVersion),
      resourceList(apiVersion, resourcesOf(apiVersion)),
    ]),
    [`/apis/${REVIEW}`, resourceList(REVIEW, [reviews('SelfSubjectAccessReview'), reviews('SelfSubjectRulesReview')])],
  ]
}

export function pathOf(apiVersion: string): string {
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}`
}

function groupOf(groupVersion: string): unknown {
  const [name, version] = groupVersion.split('/')
  return {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name,
    versions: [{ groupVersion, version }],
    preferredVersion: { groupVersion, version },
  }
}

function resourceList(groupVersion: string, resources: unknown[]): unknown {
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources }
}

function resourcesOf(apiVersion: string): unknown[] {
  return KINDS.filter((kind) => kind.apiVersion === apiVersion).flatMap(({ plural, kind, namespaced, hasStatus }) => [
    {
      name: plural,
      singularName: kind.toLowerCase(),
      namespaced,
      kind,
      verbs: VERBS,
      shortNames: SHORT_NAMES[plural] ?? [],
      categories: ALL.has(plural) ? ['all'] : [],
    },
    ...(hasStatus ? [{ name: `${plural}/status`, singularName: '', namespaced, kind, verbs: OF_PART }] : []),
    ...(SCALABLE.has(plural)
      ? [
          {
            name: `${plural}/scale`,
            singularName: '',
            namespaced,
            group: 'autoscaling',
            version: 'v1',
            kind: 'Scale',
            verbs: OF_PART,
          },
        ]
      : []),
  ])
}

function reviews(kind: string): unknown {
  const singularName = kind.toLowerCase()
  return { name: `${singularName}s`, singularName, namespaced: false, kind, verbs: ['create'] }
}
