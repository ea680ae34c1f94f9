import { reasonOf } from '../engine/errors.ts'
import type { LoadBalancer } from '../engine/request.ts'
import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import { readOnce } from '../kube/read-once.ts'
import { withSignal } from '../kube/with-signal.ts'
import { displayName, type WorkloadId } from '../pods/workload-id.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import type { Skip } from './findings.ts'
import type { Gathered, Objects, Server } from './gathered.ts'
import { probeEndpoints } from './probe-endpoints.ts'
import { readLoadBalancers } from './read-load-balancers.ts'
import { readObjects, readTemplates } from './read-objects.ts'
import { reading } from './read-problem.ts'
import { readRecords } from './read-records.ts'
import { readRights } from './read-rights.ts'
import { readServer } from './read-server.ts'
import { readWebhookServers } from './read-webhook-servers.ts'
import { lookAgain } from './second-look.ts'
import { workloadOf } from './workload-of.ts'

const REVIEWS = 'selfsubjectaccessreviews.authorization.k8s.io'

export interface DoctorRequest {
  /** The workloads to upgrade in place, for which the rights of a run are checked. Default: the workloads on record. */
  refs?: readonly WorkloadId[]
  /** The namespace to examine. All namespaces are examined where it is absent. */
  namespace?: string
  /** The namespace of the probe Service, which is created and removed. Absent where no probe is wanted. */
  probeIn?: string
}

export interface DoctorPorts {
  client: KubeClient
  clock: Clock
  random: Random
  kinds: Kinds
  /** Absent where there is no config. */
  loadBalancers?: readonly LoadBalancer[]
  signal?: AbortSignal
}

/**
 * Reads all data that the checks need, and lists each kind once; only Leases of nodes may be listed again. Writes nothing except a probe
 * that the request asks for.
 */
export async function gather({ refs = [], namespace, probeIn }: DoctorRequest, ports: DoctorPorts): Promise<Gathered> {
  const { clock, random, kinds, loadBalancers, signal } = ports
  const asking = withSignal(ports.client, () => signal)
  const client = readOnce(asking)
  const wanted = refs.map(displayName)
  const ofNamespace = namespace === undefined ? {} : { namespace }
  let server: Server
  try {
    server = await readServer(asking, clock)
  } catch (error) {
    signal?.throwIfAborted()
    if (!(error instanceof KubeError)) throw error
    return { ...ofNamespace, ...nothing(clock.wallNow(), wanted), unreachable: reasonOf(error) }
  }
  const answered = { ok: true, value: server } as const
  const serverNow = (): number => clock.wallNow() - (server.clock?.aheadMs ?? 0)
  const [nowAt, begunAt] = [serverNow(), clock.now()]
  const [listed, templates] = await Promise.all([readObjects(client, namespace), readTemplates(client, namespace, kinds)])
  const readMs = clock.now() - begunAt
  const [webhookServers, records, balancers, secondLook] = await Promise.all([
    readWebhookServers(client, { listed, ...ofNamespace }),
    readRecords(namespace, listed.pods, { client, clock, kinds, serverNow }),
    loadBalancers === undefined ? undefined : readLoadBalancers(loadBalancers, { pods: listed.pods, ...ofNamespace }, client),
    lookAgain({ listed, server: answered, nowAt }, { client: asking, clock, ...(signal === undefined ? {} : { signal }) }),
  ])
  const rights = await reading({ resource: REVIEWS }, () =>
    Promise.all(
      upgradesIn(namespace, refs, records).map((one) => readRights(asking, one.namespace, { workloads: one.workloads, kinds })),
    ),
  )
  // The probe runs last, so that no list includes its objects. Its client ignores the signal, so that it can still remove them.
  const probe =
    probeIn === undefined
      ? undefined
      : await probeEndpoints(probeIn, { client: ports.client, clock, random, ...(signal === undefined ? {} : { signal }) })
  signal?.throwIfAborted()
  return {
    ...ofNamespace,
    nowAt,
    readMs,
    wanted,
    server: answered,
    rights,
    listed,
    webhookServers,
    templates,
    workloads: new Map(listed.pods.ok ? listed.pods.value.map((pod) => [pod.metadata.uid, workloadOf(pod, kinds)]) : []),
    records,
    ...(secondLook === undefined ? {} : { secondLook }),
    ...(balancers === undefined ? {} : { balancers }),
    ...(probe === undefined ? {} : { probe }),
  }
}

/** The workloads to check rights for: those of the request, or those on record. */
function upgradesIn(
  namespace: string | undefined,
  refs: readonly WorkloadId[],
  records: Gathered['records'],
): { namespace: string; workloads: readonly WorkloadId[] }[] {
  const recorded = (records.ok ? records.value : []).map((one) => ({
    namespace: one.namespace,
    workloads: one.status.workloads.map(({ workload }) => workload),
  }))
  if (namespace === undefined) return recorded
  return refs.length === 0 && recorded.length > 0 ? recorded : [{ namespace, workloads: refs }]
}

const KINDS_LISTED: Readonly<Record<keyof Objects, true>> = {
  pods: true,
  services: true,
  slices: true,
  endpoints: true,
  budgets: true,
  namespaces: true,
  nodes: true,
  nodeLeases: true,
  systemLeases: true,
  nodeEvents: true,
  controllerManagers: true,
  validatingWebhooks: true,
  mutatingWebhooks: true,
}

/** The data from an API server that does not answer: every part is unread. */
function nothing(nowAt: number, wanted: readonly string[]): Gathered {
  const unread = { ok: false, because: { code: 'api-server-not-read' } satisfies Skip } as const
  const listed = Object.fromEntries(Object.keys(KINDS_LISTED).map((kind) => [kind, unread]))
  return {
    nowAt,
    readMs: 0,
    wanted,
    server: unread,
    rights: unread,
    records: unread,
    listed: listed as unknown as Gathered['listed'],
    webhookServers: new Map(),
    templates: [unread],
    workloads: new Map(),
  }
}
