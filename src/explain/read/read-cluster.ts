import type { Service } from '../../endpoints/objects.ts'
import { SERVICE_NAME } from '../../endpoints/endpoint-labels.ts'
import { controllerRules, type ControllerRules } from '../../endpoints/controller-rules.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isNotFound } from '../../kube/errors.ts'
import { stringField } from '../../kube/json.ts'
import { listPages } from '../../kube/list-pages.ts'
import { podsPath } from '../../observation/pod-record.ts'
import type { PodView } from '../../pods/glossary.ts'
import { podView } from '../../pods/view.ts'
import { isNamedIn } from '../../workloads/kinds/named-in.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { namingTheRight, WorkloadError } from '../../workloads/errors.ts'
import { workloadRecord } from '../../workloads/records.ts'
import { resourceOf } from '../../workloads/resources.ts'
import { knownKind } from '../../workloads/known-kind.ts'
import type { StoredEndpoints, StoredNode, StoredPod, StoredSlice } from '../../endpoints/stored.ts'
import { servicePods } from '../service-pods.ts'
import { isAbsent, type Attempts } from './attempts.ts'
import { parseEndpoints, parseNode, parsePod, parseService, parseSlice } from '../../endpoints/parse-objects.ts'
import type { ExplainRequest } from './request.ts'

export interface ClusterReading {
  pods: StoredPod[]
  hasAllPods: boolean
  /** The requested pods. */
  views: PodView[]
  services: Service[]
  slices?: StoredSlice[]
  endpoints?: StoredEndpoints[]
  nodes?: StoredNode[]
  wanted?: number
}

interface Ports {
  client: KubeClient
  kinds: Kinds
}

/** Above this number, nodes are listed, and not read one by one. */
const NODES_BY_NAME = 20

/**
 * Reads the requested object, and the objects of its namespace that concern it. Rejects with a WorkloadError where the object does not
 * exist, or a pod or Service may not be read. `attempts` records the other parts that could not be read.
 */
export async function readCluster(
  request: ExplainRequest,
  { client, kinds }: Ports,
  attempts: Attempts,
): Promise<ClusterReading> {
  const { about, namespace } = request
  const list = async (path: string, selectors = {}): Promise<unknown[]> => (await listPages({ client, path, selectors })).items
  const slicesPath = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`
  const ofService = about.type === 'service'
  const itself = await readItself(request, { client, kinds }, attempts)
  const [all, services, slices, endpoints] = await Promise.all([
    attempts.try({ what: 'pods', decides: about.type !== 'pod' }, () => list(podsPath(namespace))),
    ofService
      ? [parseService(itself)]
      : attempts.try({ what: 'services', decides: true }, async () => (await list(servicesPath(namespace))).map(parseService)),
    attempts.try({ what: 'endpointslices', decides: true }, async () =>
      (await list(slicesPath, ofService ? { labelSelector: `${SERVICE_NAME}=${about.name}` } : {})).map(parseSlice),
    ),
    attempts.try({ what: 'endpoints', decides: false }, () =>
      list(
        `/api/v1/namespaces/${encodeURIComponent(namespace)}/endpoints`,
        ofService ? { fieldSelector: `metadata.name=${about.name}` } : {},
      )
        .then((items) => items.map(parseEndpoints))
        // Endpoints are deprecated in Kubernetes, so a cluster may not serve them.
        .catch((error: unknown) => {
          if (isAbsent(error)) return undefined
          throw error
        }),
    ),
  ])
  const raw = all ?? (about.type === 'pod' ? [itself] : [])
  const pods = raw.map(parsePod)
  const views = raw.map(podView)
  const asked = askedOf(request, { pods, views, kinds, service: services?.[0], slices: slices ?? [] })
  const names = new Set(views.filter(({ uid }) => asked.has(uid)).flatMap(({ node }) => node ?? []))
  const nodes = await attempts.try({ what: 'nodes', decides: false }, () => readNodes([...names], client, list))
  const wanted = about.type === 'workload' && itself !== undefined ? wantedOf(itself, request, kinds) : undefined
  return {
    pods,
    hasAllPods: all !== undefined,
    views: views.filter(({ uid }) => asked.has(uid)),
    services: services ?? [],
    ...(slices === undefined ? {} : { slices }),
    ...(endpoints === undefined ? {} : { endpoints }),
    ...(nodes === undefined ? {} : { nodes }),
    ...(wanted === undefined ? {} : { wanted }),
  }
}

/** The rules of the version of the cluster; of the newest version, where the API server does not tell its own. */
export async function readRules(client: KubeClient): Promise<ControllerRules> {
  const version = await client.get('/version').catch(() => undefined)
  const minor = Number.parseInt(stringField(version, 'minor') ?? '', 10)
  return controllerRules(Number.isNaN(minor) ? Infinity : minor)
}

async function readItself(
  { about, namespace, ref }: ExplainRequest,
  { client, kinds }: Ports,
  attempts: Attempts,
): Promise<unknown> {
  const resource = ref === undefined ? undefined : resourceOf(knownKind(kinds, ref))
  const path = resource?.object(namespace, about.name) ?? `${servicesPath(namespace)}/${encodeURIComponent(about.name)}`
  try {
    return await client.get(path)
  } catch (error) {
    if (isNotFound(error))
      throw new WorkloadError('not-found', { code: 'no-such-workload', workload: about.object, namespace }, { cause: error })
    // The explanation needs the pods of a workload, which may be readable even where the workload is not.
    if (about.type === 'workload') return attempts.try({ what: 'workload', decides: false }, () => Promise.reject(error as Error))
    throw namingTheRight(error, ['get'], resource?.name ?? 'services', namespace)
  }
}

interface Candidates {
  pods: readonly StoredPod[]
  views: readonly PodView[]
  kinds: Kinds
  service: Service | undefined
  slices: readonly StoredSlice[]
}

/** The UIDs of the requested pods. */
export function askedOf(
  { about, ref }: ExplainRequest,
  { pods, views, kinds, service, slices }: Candidates,
): ReadonlySet<string> {
  switch (about.type) {
    case 'pod':
      return new Set(views.filter(({ name }) => name === about.name).map(({ uid }) => uid))
    case 'service':
      return new Set(service === undefined ? [] : servicePods(service, pods, slices).map(({ metadata }) => metadata.uid))
    case 'workload':
      return new Set(views.filter((view) => isNamedIn(kinds, ref!, view)).map(({ uid }) => uid))
  }
}

async function readNodes(
  names: readonly string[],
  client: KubeClient,
  list: (path: string) => Promise<unknown[]>,
): Promise<StoredNode[]> {
  if (names.length > NODES_BY_NAME) return (await list('/api/v1/nodes')).map(parseNode)
  const found = await Promise.all(
    names.map((name) =>
      client.get(`/api/v1/nodes/${encodeURIComponent(name)}`).catch((error: unknown) => {
        if (isNotFound(error)) return undefined
        throw error
      }),
    ),
  )
  return found.flatMap((raw) => (raw === undefined ? [] : [parseNode(raw)]))
}

/** A kind without a replica count, such as one with a pod on each node, has the wanted count in its status. */
function wantedOf(raw: unknown, { ref }: ExplainRequest, kinds: Kinds): number | undefined {
  const record = workloadRecord(raw)
  const { mechanism } = knownKind(kinds, ref!)
  if (mechanism?.type === 'revisioned') return mechanism.revisions.desired(record)
  return mechanism === undefined ? undefined : record.wantedReplicas
}

function servicesPath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/services`
}
