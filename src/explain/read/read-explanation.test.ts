import { expect, test } from 'vitest'
import type { Adapter, Endpoint, Target } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import { createScopeQueues } from '../../engine/traffic/scope-queues.ts'
import { service } from '../../endpoints/testing/objects.ts'
import { writeJournal } from '../../journal/journal.ts'
import type { PodAccount } from '../../journal/account.ts'
import { LEDGER_LABEL, ledgerChunks, type LedgerHeader } from '../../journal/ledger.ts'
import { withAccounts } from '../../journal/ledger-accounts.ts'
import { realisticJournal, testTarget } from '../../journal/testing/journals.ts'
import { KubeError } from '../../kube/errors.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { Journal } from '../../pods/glossary.ts'
import { JOURNAL_KEY } from '../../pods/view.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { APPS, deployment, workload } from '../../workloads/testing/manifests.ts'
import type { Explanation } from '../explanation.ts'
import { AT } from '../../endpoints/testing/managed-fields.ts'
import { endpointOf, endpointsObject, pod, slice } from '../testing/observed.ts'
import { readExplanation } from './read-explanation.ts'
import type { ExplainRequest } from './request.ts'

const CORE = '/api/v1/namespaces/shop'
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices'
const SLICE = `${SLICES}/web-abc12`
const NODE_LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1'
const WEB_0: ExplainRequest = {
  namespace: 'shop',
  about: { type: 'pod', object: 'pod/web-0', name: 'web-0', namespace: 'shop' },
  ref: { group: '', version: 'v1', kind: 'Pod', plural: 'pods', name: 'web-0' },
}
const WEB: ExplainRequest = {
  namespace: 'shop',
  about: { type: 'service', object: 'service/web', name: 'web', namespace: 'shop' },
}

function createCluster() {
  const api = createFakeApi()
  api.put(`${CORE}/pods/web-0`, pod())
  api.put(`${CORE}/services/web`, service())
  api.put(SLICE, slice([endpointOf(pod())]))
  api.put(`${CORE}/endpoints/web`, endpointsObject([pod()]))
  api.put('/api/v1/nodes/node-1', {
    metadata: { name: 'node-1' },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: AT }] },
  })
  api.put(NODE_LEASE, { metadata: {}, spec: { renewTime: new Date(1_000_000).toISOString(), leaseDurationSeconds: 40 } })
  return api
}

const ADAPTER = {
  capabilities: { inspect: 'strong' },
  resolve: async (endpoints: readonly Endpoint[]) =>
    endpoints.map(({ pod: name }) => ({ found: true, targets: [{ id: name, scope: 'web' }] })),
  inspect: async (targets: readonly Target[]) =>
    new Map(targets.map(({ id }) => [id, { admin: 'in', routable: true, inFlight: 2, detail: 'UP' }])),
} as Partial<Record<keyof Adapter, unknown>> as Adapter

interface Given {
  api?: ReturnType<typeof createCluster>
  request?: ExplainRequest
  adapter?: Adapter
}

async function read({ api = createCluster(), request = WEB_0, adapter = ADAPTER }: Given = {}): Promise<Explanation> {
  const clock = createVirtualClock()
  let result: Explanation | undefined
  let problem: unknown
  void readExplanation(request, {
    client: api.client,
    kinds: KINDS,
    clock,
    loadBalancers: [{ name: 'edge', adapterName: 'fake', adapter, port: 8080 }],
    queues: createScopeQueues(clock),
    signal: new AbortController().signal,
  }).then(
    (found) => (result = found),
    (error: unknown) => (problem = error),
  )
  await clock.runUntil(() => result !== undefined || problem !== undefined)
  if (result === undefined) throw problem
  return result
}

/** Refuses the requests that match. */
function refuse(api: ReturnType<typeof createCluster>, matches: (method: string, path: string) => boolean): void {
  api.faults.before = (method, path) => {
    if (!matches(method, path)) return
    const message = `${method} ${path}: 403 Forbidden: User "ann" cannot read resource "it"`
    throw new KubeError(message, { kind: 'definite', method, path, status: 403, reason: 'Forbidden' })
  }
}

test('of a pod all that is about it is read, and nothing is written', async () => {
  const api = createCluster()
  expect(await read({ api })).toMatchObject({
    verdict: 'right',
    findings: [],
    unread: [],
    pods: [{ rotation: 'in', places: [{ in: 'slice' }, { in: 'endpoints' }, { in: 'load-balancer', said: 'UP', inFlight: 2 }] }],
    nodes: [{ name: 'node-1', heartbeat: { renewedAt: '1970-01-01T00:16:40.000Z' } }],
  })
  // Each request is made once. docs/explain.md has the rights for them.
  expect(api.calls.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    [
      'GET /api/v1/namespaces/shop/pods/web-0',
      'GET /api/v1/nodes/node-1',
      `GET ${NODE_LEASE}`,
      'GET /version',
      'LIST /api/v1/namespaces/shop/configmaps',
      'LIST /api/v1/namespaces/shop/endpoints',
      'LIST /api/v1/namespaces/shop/pods',
      'LIST /api/v1/namespaces/shop/services',
      'LIST /apis/coordination.k8s.io/v1/namespaces/shop/leases',
      `LIST ${SLICES}`,
    ].toSorted(),
  )
})

test.each<[what: string, verdict: Explanation['verdict'], matches: (method: string, path: string) => boolean]>([
  ['services', 'unknown', (_, path) => path.endsWith('/services')],
  ['endpointslices', 'unknown', (_, path) => path.endsWith('/endpointslices')],
  ['endpoints', 'right', (_, path) => path.endsWith('/endpoints')],
  ['nodes', 'right', (_, path) => path.includes('/nodes/')],
  ['leases', 'right', (_, path) => path.includes('kube-node-lease')],
  ['records', 'right', (_, path) => path.endsWith('/configmaps')],
])('where %s may not be read, that is said, the rest is told, and the verdict is %s', async (what, verdict, matches) => {
  const api = createCluster()
  refuse(api, matches)
  const result = await read({ api })
  expect(result).toMatchObject({
    verdict,
    pods: [{ name: 'web-0' }],
    unread: [{ what, because: { code: 'api-error', status: 403 } }],
  })
  expect(result.findings).toEqual([])
})

test('where pods may not be listed, the one is told that may be read', async () => {
  const api = createCluster()
  refuse(api, (method, path) => method === 'LIST' && path.endsWith('/pods'))
  expect(await read({ api })).toMatchObject({
    verdict: 'right',
    pods: [{ rotation: 'in' }],
    unread: [{ what: 'pods', decides: false }, { what: 'records' }],
  })
  expect(await read({ api, request: WEB })).toMatchObject({
    verdict: 'unknown',
    pods: [],
    unread: [{ what: 'pods', decides: true }, {}],
  })
})

test('an object that is not there, or may not be read, is an error', async () => {
  const api = createCluster()
  refuse(api, (method, path) => method === 'GET' && path.endsWith('/pods/web-0'))
  await expect(read({ api })).rejects.toMatchObject({ kind: 'forbidden', reason: { code: 'not-allowed', resource: 'pods' } })
  const none = createCluster()
  none.remove(`${CORE}/services/web`)
  await expect(read({ api: none, request: WEB })).rejects.toMatchObject({
    kind: 'not-found',
    reason: { code: 'no-such-workload', workload: 'service/web' },
  })
})

test('what the controller puts right between two looks is no finding, and what it does not is one', async () => {
  const late = createCluster()
  const behind = slice([endpointOf(pod(), { conditions: { ready: false, serving: false, terminating: false } })])
  late.put(SLICE, behind)
  let looks = 0
  late.faults.after = (method, path) => {
    if (method === 'LIST' && path === SLICES && ++looks === 1) late.put(SLICE, slice([endpointOf(pod())]))
  }
  expect(await read({ api: late })).toMatchObject({ verdict: 'right', findings: [], pods: [{ rotation: 'in' }] })
  expect(looks).toBe(2)
  const stuck = createCluster()
  stuck.put(SLICE, behind)
  expect(await read({ api: stuck })).toMatchObject({
    verdict: 'wrong',
    findings: [{ reason: { code: 'slice-differs', differs: [{ field: 'ready', is: false, made: true }, { field: 'serving' }] } }],
  })
})

test('an EndpointSlice without endpoints has null there', async () => {
  const api = createCluster()
  api.put(SLICE, { ...slice([]), endpoints: null, ports: null })
  expect(await read({ api })).toMatchObject({ findings: [{ reason: { code: 'not-in-slices' } }] })
})

test('a Service is told by the pods that it selects, and each of its addresses', async () => {
  const api = createCluster()
  api.put(`${CORE}/pods/job-0`, pod({ name: 'job-0', address: '10.0.0.7', labels: { app: 'job' } }))
  api.put(SLICE, slice([endpointOf(pod()), endpointOf(pod({ name: 'web-9', address: '10.0.0.9' }))]))
  expect(await read({ api, request: WEB })).toMatchObject({
    verdict: 'wrong',
    pods: [{ name: 'web-0', rotation: 'in' }],
    findings: [{ reason: { code: 'stale-address', address: '10.0.0.9', pod: 'web-9', because: 'pod-gone' } }],
  })
})

test('a load balancer that cannot be asked is told, and so is one that does not know the pod', async () => {
  const fails = async (): Promise<never> => {
    throw new AdapterError('fake', 'retryable', 'no route')
  }
  for (const adapter of [
    { ...ADAPTER, resolve: fails },
    { ...ADAPTER, inspect: fails },
  ])
    expect(await read({ adapter })).toMatchObject({
      verdict: 'unknown',
      pods: [{ rotation: 'unknown' }],
      unread: [{ what: 'load-balancer', name: 'edge', because: { said: 'fake: no route' } }],
    })
  const unknown: Adapter = { ...ADAPTER, resolve: async () => [{ found: false, reason: 'no server has 10.0.0.1:8080' }] }
  expect(await read({ adapter: unknown })).toMatchObject({
    verdict: 'wrong',
    findings: [{ pod: 'web-0', reason: { code: 'not-found', loadBalancer: 'edge' } }],
    pods: [{ rotation: 'partly' }],
  })
  const blind: Adapter = { ...ADAPTER, capabilities: { ...ADAPTER.capabilities, inspect: 'none' } }
  expect(await read({ adapter: blind })).toMatchObject({
    verdict: 'unknown',
    unread: [{ because: { code: 'cannot-read-back' } }],
  })
})

function ofWorkload(object: string): ExplainRequest {
  const [type = '', name = ''] = object.split('/')
  const { group, version, kind, plural } = KINDS.kindNamed(type)!
  return {
    namespace: 'shop',
    about: { type: 'workload', object, name, namespace: 'shop' },
    ref: { group, version, kind, plural, name },
  }
}

function owner(kind: string, name: string): object {
  return { ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: `uid-of-${name}`, controller: true }] }
}

test('a workload is told by the pods that it owns, and by those that it lacks', async () => {
  const api = createCluster()
  api.put(`${APPS}/statefulsets/web`, workload({ replicas: 2 }))
  api.put(`${CORE}/pods/web-0`, pod({ metadata: owner('StatefulSet', 'web') }))
  // A pod of another owner has equal labels.
  api.put(`${CORE}/pods/web-1`, pod({ name: 'web-1', address: '10.0.0.2', metadata: owner('StatefulSet', 'web2') }))
  api.put(SLICE, slice([endpointOf(pod()), endpointOf(pod({ name: 'web-1', address: '10.0.0.2' }))]))
  expect(await read({ api, request: ofWorkload('statefulset/web') })).toMatchObject({
    verdict: 'wrong',
    pods: [{ name: 'web-0', rotation: 'in' }],
    findings: [{ reason: { code: 'fewer-pods', workload: 'statefulset/web', pods: 1, wanted: 2 } }],
  })
})

test('the pods of a Deployment are those of its ReplicaSets; a DaemonSet has as many as its nodes', async () => {
  const api = createCluster()
  api.put(`${APPS}/deployments/web`, deployment(1))
  api.put(`${CORE}/pods/web-0`, pod({ metadata: owner('ReplicaSet', 'web-5f7d') }))
  expect(await read({ api, request: ofWorkload('deployment/web') })).toMatchObject({
    verdict: 'right',
    pods: [{ name: 'web-0' }],
  })
  api.put(`${APPS}/daemonsets/web`, workload({ replicas: 1 }))
  api.put(`${CORE}/pods/web-0`, pod({ metadata: owner('DaemonSet', 'web') }))
  expect(await read({ api, request: ofWorkload('daemonset/web') })).toMatchObject({ verdict: 'right', pods: [{ name: 'web-0' }] })
})

test('a workload that may not be read itself is told by its pods', async () => {
  const api = createCluster()
  api.put(`${CORE}/pods/web-0`, pod({ metadata: owner('StatefulSet', 'web') }))
  refuse(api, (method, path) => method === 'GET' && path.endsWith('/statefulsets/web'))
  expect(await read({ api, request: ofWorkload('statefulset/web') })).toMatchObject({
    verdict: 'right',
    pods: [{ name: 'web-0' }],
    unread: [{ what: 'workload', decides: false }],
  })
})

const DRAINED: Journal = {
  ...realisticJournal,
  run: 'r7',
  step: 'drain',
  targets: [testTarget({ target: 'web-0', scope: 'web' })],
}

test('where the records of runs may not be read, the journal of the pod tells which run has it', async () => {
  const out: Adapter = {
    ...ADAPTER,
    inspect: async (targets) =>
      new Map(targets.map(({ id }) => [id, { admin: 'draining' as const, routable: false, inFlight: 0 }])),
  }
  const api = createCluster()
  const uid = 'uid-of-web-0'
  const annotations = { [JOURNAL_KEY]: writeJournal(DRAINED, uid) }
  api.put(`${CORE}/pods/web-0`, pod({ metadata: { annotations } }))
  for (const isRefused of [false, true]) {
    if (isRefused) refuse(api, (_method, path) => path.endsWith('/configmaps'))
    const result = await read({ api, adapter: out })
    expect(result).toMatchObject({
      verdict: 'wrong',
      pods: [{ rotation: 'partly', run: { run: 'r7', step: 'drain', out: null, needsOperator: false } }],
      unread: isRefused ? [{ what: 'records' }] : [],
    })
    expect(result.findings.map(({ reason }) => reason.code)).toEqual(['pod-in-run', 'entry-out-by-run'])
  }
  const kept = createCluster()
  const undrained = writeJournal({ ...DRAINED, step: 'patched', targets: [], undrained: ['app', 'proxy'] }, uid)
  kept.put(`${CORE}/pods/web-0`, pod({ metadata: { annotations: { [JOURNAL_KEY]: undrained } } }))
  refuse(kept, (_method, path) => path.endsWith('/configmaps'))
  expect(await read({ api: kept })).toMatchObject({
    pods: [
      {
        rotation: 'in',
        run: { out: false, because: { code: 'changes-without-drain', containers: ['app', 'proxy'], ready: true } },
      },
    ],
  })
  const broken = createCluster()
  broken.put(`${CORE}/pods/web-0`, pod({ metadata: { annotations: { [JOURNAL_KEY]: '{' } } }))
  for (const isRefused of [false, true]) {
    if (isRefused) refuse(broken, (_method, path) => path.endsWith('/configmaps'))
    const result = await read({ api: broken })
    expect(result.findings.map(({ reason }) => reason.code)).toEqual(['journal-unreadable', 'pod-needs-operator'])
  }
})

test.each<[what: string, epoch: number, effects: ('drain' | 'restore')[], since: string | undefined]>([
  ['since its drain', 2, ['drain', 'restore', 'drain'], '2026-11-29T10:01:02.000Z'],
  ['without an instant where a later process has drained it', 3, ['drain'], undefined],
  ['without an instant where it was put back since', 2, ['drain', 'restore'], undefined],
])('an entry that a run has left out is told %s', async (_what, epoch, effects, since) => {
  const api = createCluster()
  const uid = 'uid-of-web-0'
  const { targets } = DRAINED
  const annotations = { [JOURNAL_KEY]: writeJournal({ ...DRAINED, epoch }, uid) }
  api.put(`${CORE}/pods/web-0`, pod({ metadata: { annotations, ...owner('StatefulSet', 'web') } }))
  const call = { ...targets[0]!, operation: 'o1', batch: 1, outcome: 'applied' as const }
  const account: PodAccount = {
    epoch: 2,
    startedAtMs: Date.parse('2026-11-29T10:00:00.000Z'),
    phases: [],
    effects: effects.map((effect, index) => ({ ...call, effect, afterMs: 2_000 + index * 30_000 })),
    restarts: [],
  }
  const workloads = [{ ...STATEFUL_SET, name: 'web', uid: 'w' }]
  const header: LedgerHeader = { run: 'r7', workloads, images: [], startedAt: '2026-11-29T09:59:00.000Z', chunks: 1 }
  const ledger = { header, entries: new Map([[uid, { uid, pod: 'web-0', targets, state: 'open' as const }]]) }
  const entries = new Map(withAccounts(ledger, new Map([[uid, account]])).map((one) => [one.uid, one]))
  const [data] = ledgerChunks({ header, entries })
  api.put(`${CORE}/configmaps/sluice-run-r7`, { metadata: { name: 'sluice-run-r7', labels: { [LEDGER_LABEL]: 'r7' } }, data })
  const out: Adapter = {
    ...ADAPTER,
    inspect: async (some) => new Map(some.map(({ id }) => [id, { admin: 'out' as const, routable: false, inFlight: 0 }])),
  }
  const [told] = (await read({ api, adapter: out })).pods
  expect(told?.run).toMatchObject({ run: 'r7', workload: 'statefulset/web', startedAt: '2026-11-29T09:59:00.000Z' })
  const place = told!.places.find((one) => one.in === 'load-balancer')
  expect([place?.outBy, place?.since]).toEqual(['run', since])
})
