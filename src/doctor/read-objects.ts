import { parseEndpoints, parseNode, parsePod, parseService, parseSlice } from '../endpoints/parse-objects.ts'
import { NODE_LEASES } from '../endpoints/nodes.ts'
import type { KubeClient } from '../kube/client.ts'
import { listPages } from '../kube/list-pages.ts'
import { displayName } from '../pods/workload-id.ts'
import type { Kind } from '../workloads/kinds/kind.ts'
import { isTemplateWritten } from '../workloads/kinds/kind.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import type { Gathered, Listed, Objects, Template } from './gathered.ts'
import { reading } from './read-problem.ts'

interface Source {
  /** The path of the API: `api/v1`, or `apis/GROUP/VERSION`. */
  api: string
  plural: string
  /** `looked`: the namespace that the doctor examines, or all namespaces. `cluster`: no namespace. */
  scope: 'looked' | 'cluster' | { namespace: string }
  labelSelector?: string
  fieldSelector?: string
  /** Objects stay as they are where it is absent. */
  parse?: (raw: unknown) => unknown
}

const SYSTEM = 'kube-system'
/** The namespace of the Events of objects without a namespace. */
const EVENTS_OF_NODES = 'default'
const ADMISSION = 'apis/admissionregistration.k8s.io/v1'
const LEASES = 'apis/coordination.k8s.io/v1'

const SOURCES: { readonly [One in keyof Objects]: Source } = {
  pods: { api: 'api/v1', plural: 'pods', scope: 'looked', parse: parsePod },
  services: { api: 'api/v1', plural: 'services', scope: 'looked', parse: parseService },
  slices: { api: 'apis/discovery.k8s.io/v1', plural: 'endpointslices', scope: 'looked', parse: parseSlice },
  endpoints: { api: 'api/v1', plural: 'endpoints', scope: 'looked', parse: parseEndpoints },
  budgets: { api: 'apis/policy/v1', plural: 'poddisruptionbudgets', scope: 'looked' },
  namespaces: { api: 'api/v1', plural: 'namespaces', scope: 'cluster' },
  nodes: { api: 'api/v1', plural: 'nodes', scope: 'cluster', parse: parseNode },
  nodeLeases: { api: LEASES, plural: 'leases', scope: { namespace: NODE_LEASES } },
  systemLeases: { api: LEASES, plural: 'leases', scope: { namespace: SYSTEM } },
  nodeEvents: {
    api: 'api/v1',
    plural: 'events',
    scope: { namespace: EVENTS_OF_NODES },
    fieldSelector: 'involvedObject.kind=Node,reason=NodeNotReady',
  },
  controllerManagers: {
    api: 'api/v1',
    plural: 'pods',
    scope: { namespace: SYSTEM },
    labelSelector: 'component=kube-controller-manager',
  },
  validatingWebhooks: { api: ADMISSION, plural: 'validatingwebhookconfigurations', scope: 'cluster' },
  mutatingWebhooks: { api: ADMISSION, plural: 'mutatingwebhookconfigurations', scope: 'cluster' },
}

/** Lists each kind once, all concurrently. All namespaces are listed where `namespace` is absent. */
export async function readObjects(client: KubeClient, namespace: string | undefined): Promise<Gathered['listed']> {
  const lists = Object.entries(SOURCES).map(async ([kind, source]) => [kind, await list(client, source, namespace)] as const)
  return Object.fromEntries(await Promise.all(lists)) as unknown as Gathered['listed']
}

/** Lists one kind again. `namespace` is that of `readObjects`. */
export function listKind<Key extends keyof Objects>(
  client: KubeClient,
  kind: Key,
  namespace?: string,
): Promise<Listed<Objects[Key]>> {
  return list(client, SOURCES[kind], namespace) as Promise<Listed<Objects[Key]>>
}

/** Lists the workloads of each kind whose template sluice writes. */
export function readTemplates(client: KubeClient, namespace: string | undefined, kinds: Kinds): Promise<Listed<Template>[]> {
  const read = kinds.all.filter(isTemplateWritten).map(async (kind): Promise<Listed<Template>> => {
    const { group, version, plural } = kind
    const api = group === '' ? `api/${version}` : `apis/${group}/${version}`
    const listed = await list(client, { api, plural, scope: 'looked' }, namespace)
    return listed.ok ? { ok: true, value: listed.value.map((raw) => templateOf(raw as RawTemplate, kind)) } : listed
  })
  return Promise.all(read)
}

interface RawTemplate {
  metadata: { namespace: string; name: string }
  spec?: { updateStrategy?: { type?: string } }
}

function templateOf({ metadata: { namespace, name }, spec }: RawTemplate, kind: Kind): Template {
  const strategy = spec?.updateStrategy?.type
  return { namespace, workload: displayName({ ...kind, name }), ...(strategy === undefined ? {} : { strategy }) }
}

function list(client: KubeClient, source: Source, looked: string | undefined): Promise<Listed<unknown>> {
  const { api, plural, scope, labelSelector, fieldSelector, parse = asItIs } = source
  const namespace = typeof scope === 'object' ? scope.namespace : scope === 'looked' ? looked : undefined
  const path = `/${api}${namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${plural}`
  const [, group] = /^apis\/([^/]+)\//.exec(api) ?? []
  const asked = {
    resource: group === undefined ? plural : `${plural}.${group}`,
    ...(namespace === undefined ? {} : { namespace }),
  }
  return reading(asked, async () => {
    const { items } = await listPages({ client, path, selectors: { labelSelector, fieldSelector } })
    return items.map(parse)
  })
}

function asItIs(raw: unknown): unknown {
  return raw
}
