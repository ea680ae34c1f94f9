import { expect, test } from 'vitest'
import type { Adapter } from '../../adapters/contract.ts'
import { AdapterError } from '../../adapters/contract.ts'
import { createMemoryAdapter, createMemoryBalancer } from '../../adapters/conformance/memory-adapter.ts'
import { TransportError } from '../../src/kube/transport.ts'
import { LEDGER_LABEL, ledgerChunks } from '../../src/journal/ledger.ts'
import type { AccessAttributes } from '../../sim/api-server/server.ts'
import { rightsOfDoctor, rightsOfDoctorIn } from '../../src/doctor/rights.ts'
import { type Right, rightsOfRun } from '../../src/engine/rights.ts'
import { KINDS } from '../../src/workloads/kinds/index.ts'
import { examine } from '../../src/doctor/doctor.ts'
import { type DoctorRequest, gather } from '../../src/doctor/gather.ts'
import type { DoctorReport } from '../../src/doctor/report.ts'
import { type Embedded, embedded } from './doctor-bed.ts'

const labels = { app: 'web' }
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-0', labels },
  spec: { containers: [{ name: 'app', image: 'app:v1', ports: [{ containerPort: 80 }], readinessProbe: { periodSeconds: 1 } }] },
}
const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', labels: { team: 'shop' } },
  spec: { clusterIP: 'None', selector: labels, ports: [{ port: 80 }] },
}

async function settled<Value>(cluster: Embedded, work: Promise<Value>): Promise<Value> {
  let isOver = false
  const watched = work.finally(() => {
    isOver = true
  })
  watched.catch(() => {})
  await cluster.clock.settle()
  if (!isOver) await cluster.clock.runUntil(() => isOver)
  return watched
}

async function started(options?: Parameters<typeof embedded>[0]): Promise<Embedded> {
  const cluster = embedded(options)
  cluster.apply(POD, SERVICE)
  await cluster.clock.advance(10_000)
  return cluster
}

const ask = (cluster: Embedded, request: DoctorRequest = { namespace: 'default' }, more: object = {}): Promise<DoctorReport> =>
  settled(cluster, examine(request, { ...cluster, kinds: KINDS, ...more }))

function codes({ checks }: DoctorReport): string[] {
  return checks.flatMap(({ findings }) => findings.map(({ code }) => code))
}

test('each list is asked for once, and nothing is written', async () => {
  const cluster = await started()
  const report = await ask(cluster)
  expect(codes(report)).toEqual([])
  const lists = cluster.calls.filter((call) => call.startsWith('GET '))
  expect(lists.length).toBeGreaterThan(15)
  expect(lists.filter((call, index) => lists.indexOf(call) !== index)).toEqual([])
  const writes = cluster.calls.filter((call) => !call.startsWith('GET '))
  expect(writes.every((call) => call.startsWith('POST /apis/authorization.k8s.io/'))).toBe(true)
})

test('the clock of the API server is told by its date: one that is 90 s behind is found', async () => {
  const cluster = await started()
  const behind = { ...cluster.clock, wallNow: () => cluster.clock.wallNow() - 90_000 }
  const report = await ask(cluster, undefined, { clock: behind })
  const [finding] = report.checks.find(({ check }) => check === 'clock')!.findings
  expect(finding).toMatchObject({ code: 'clock-differs' })
  const { aheadMs } = finding as unknown as { aheadMs: number }
  expect(Math.abs(aheadMs + 90_000)).toBeLessThanOrEqual(600)
  expect(codes(report)).toEqual(['clock-differs'])
})

test('of one who may list nothing of the cluster, what needs that is skipped with the right, and the rest is looked at', async () => {
  const cluster = await started()
  cluster.apiServer.authorize((_, { namespace }) => namespace === 'default')
  const report = await ask(cluster)
  const skipped = report.checks.flatMap((check) => check.skipped.map((one) => ({ check: check.check, ...one })))
  expect(skipped).toEqual(
    expect.arrayContaining([
      { check: 'versions', code: 'no-right', right: 'list nodes' },
      { check: 'scheduler', code: 'no-right', right: 'list leases.coordination.k8s.io', namespace: 'kube-system' },
    ]),
  )
  const passed = report.checks.filter(({ outcome }) => outcome === 'passed').map(({ check }) => check)
  expect(passed).toEqual(expect.arrayContaining(['selectorless-services', 'readiness-probes', 'open-records']))
  expect(codes(report)).toEqual([])
})

test('rights that a run lacks are named', async () => {
  const cluster = await started()
  cluster.apiServer.authorize(
    (_, { verb, resource, subresource }) => !(verb === 'patch' && resource === 'pods' && subresource === ''),
  )
  const report = await ask(cluster)
  expect(report.checks.find(({ check }) => check === 'rights')!.findings).toMatchObject([
    { code: 'rights-missing', namespace: 'default', rights: ['patch pods'] },
  ])
})

test('all namespaces: pods, Services and records of each', async () => {
  const cluster = await started()
  cluster.apply({
    ...SERVICE,
    metadata: { name: 'far', namespace: 'other' },
    spec: { clusterIP: '10.96.0.9', ports: [{ port: 80 }] },
  } as never)
  await cluster.clock.advance(1_000)
  const report = await ask(cluster, {})
  expect(report.namespace).toBeUndefined()
  expect(report.checks.flatMap(({ findings }) => findings)).toMatchObject([
    { code: 'selectorless-without-endpoints', namespace: 'other', service: 'far' },
  ])
})

const servicesOf = ({ apiServer }: Embedded): string[] => apiServer.store.list('services').map(({ metadata }) => metadata.name)

test('the probe measures how long the endpoints of a Service take, and leaves nothing', async () => {
  const cluster = await started({ endpointLag: [7_000, 7_100] })
  const { probe } = await settled(cluster, gather({ namespace: 'default', probeIn: 'default' }, { ...cluster, kinds: KINDS }))
  expect(probe!.lagMs).toBeGreaterThanOrEqual(7_000)
  expect(probe!.lagMs).toBeLessThan(7_500)
  expect(servicesOf(cluster)).toEqual(['web'])
})

test('a controller that does not come is waited for 30 s; the probe is removed all the same', async () => {
  const cluster = await started({ endpointLag: [600_000, 600_001] })
  const report = await ask(cluster, { namespace: 'default', probeIn: 'default' })
  expect(codes(report)).toContain('endpoint-controller-stuck')
  expect(servicesOf(cluster)).toEqual(['web'])
})

test('an abort in the middle of the probe removes it first', async () => {
  const cluster = await started({ endpointLag: [600_000, 600_001] })
  const stopping = new AbortController()
  const reason = new Error('stopped')
  const looking = ask(cluster, { namespace: 'default', probeIn: 'default' }, { signal: stopping.signal })
  looking.catch(() => {})
  await cluster.clock.runUntil(() => servicesOf(cluster).length === 2)
  stopping.abort(reason)
  await expect(looking).rejects.toBe(reason)
  expect(servicesOf(cluster)).toEqual(['web'])
})

test.each([
  ['was not sent', false, false],
  ['is lost on its way', true, false],
  ['is made, and the answer lost', true, true],
])('a probe whose creation %s is told, and nothing is left', async (_, bytesLeft, isMade) => {
  const cluster = await started()
  cluster.onRequest = (request) => {
    if (request.method !== 'POST' || !request.path.includes('/services')) return
    if (isMade) cluster.apiServer.handle(request, 'sluice')
    throw new TransportError('connection lost', { bytesLeft })
  }
  expect(codes(await ask(cluster, { namespace: 'default', probeIn: 'default' }))).toEqual(['probe-refused'])
  expect(servicesOf(cluster)).toEqual(['web'])
})

test('a probe that cannot be removed is told by its name', async () => {
  const cluster = await started()
  cluster.onRequest = ({ method, path }) => {
    if (method === 'DELETE' && path.includes('/services')) throw new TransportError('connection lost', { bytesLeft: true })
  }
  const report = await ask(cluster, { namespace: 'default', probeIn: 'default' })
  const left = report.checks.flatMap(({ findings }) => findings)
  expect(left).toMatchObject([{ code: 'probe-left', service: servicesOf(cluster).find((name) => name !== 'web') }])
})

function podIp({ apiServer }: Embedded): string {
  return (apiServer.store.get('pods', 'default', 'web-0') as unknown as { status: { podIP: string } }).status.podIP
}

const balancing = (adapter: Adapter): object => ({
  loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
})

test('a load balancer is read, and not changed', async () => {
  const cluster = await started()
  const balancer = createMemoryBalancer([{ name: 'a', address: podIp(cluster), port: 80 }])
  const adapter = createMemoryAdapter(balancer)
  const report = await ask(cluster, undefined, balancing(adapter))
  expect(codes(report)).toEqual([])
  expect(report.checks.find(({ check }) => check === 'health')!.outcome).toBe('passed')
})

test('entries at addresses that no pod has are strays; those of a pod of another namespace are not', async () => {
  const cluster = await started()
  cluster.apply({ ...POD, metadata: { name: 'api-0', namespace: 'other' } } as never)
  await cluster.clock.advance(10_000)
  const other = (cluster.apiServer.store.get('pods', 'other', 'api-0') as unknown as { status: { podIP: string } }).status.podIP
  const base = createMemoryAdapter(createMemoryBalancer([{ name: 'a', address: podIp(cluster), port: 80 }]))
  const entry = (id: string, address: string) => ({ id, address, port: 80, admin: 'in' as const })
  const adapter: Adapter = {
    ...base,
    entries: async () => [entry('a', podIp(cluster)), entry('b', other), entry('c', '192.0.2.1')],
  }
  const report = await ask(cluster, undefined, balancing(adapter))
  expect(report.checks.flatMap(({ findings }) => findings)).toMatchObject([
    { code: 'server-without-pod', target: 'c', address: '192.0.2.1:80', inRotation: true },
  ])
  cluster.apiServer.authorize((_, { namespace, resource }) => namespace !== '' || resource !== 'pods')
  const narrow = await ask(cluster, undefined, balancing(adapter))
  expect(codes(narrow)).toEqual([])
  expect(narrow.checks.find(({ check }) => check === 'servers')).toMatchObject({
    outcome: 'skipped',
    skipped: [{ code: 'no-right', right: 'list pods' }],
  })
})

test.each([
  ['retryable', 'load-balancer-unreachable'],
  ['fatal', 'load-balancer-refuses'],
] as const)('one that fails as %s is told as %s', async (kind, code) => {
  const cluster = await started()
  const base = createMemoryAdapter(createMemoryBalancer([]))
  const adapter: Adapter = { ...base, resolve: () => Promise.reject(new AdapterError('memory edge', kind, 'no')) }
  expect(codes(await ask(cluster, undefined, balancing(adapter)))).toEqual([code])
})

test('an effect that cannot be made is told', async () => {
  const cluster = await started()
  const base = createMemoryAdapter(createMemoryBalancer([{ name: 'a', address: podIp(cluster), port: 80 }]))
  const adapter: Adapter = {
    ...base,
    rehearse: async (targets) =>
      new Map(targets.map(({ target }) => [target.id, new AdapterError('memory edge', 'fatal', 'no such key: weight')])),
  }
  expect(codes(await ask(cluster, undefined, balancing(adapter)))).toEqual(['effect-impossible'])
})

test('a load balancer that cannot be read back says nothing of which pods are behind it', async () => {
  const cluster = await started()
  cluster.apply({ ...POD, metadata: { name: 'job-0' }, spec: { containers: [{ name: 'job', image: 'app:v1' }] } } as never)
  await cluster.clock.advance(10_000)
  const base = createMemoryAdapter(createMemoryBalancer([]))
  const blind: Adapter = {
    ...base,
    resolve: async (endpoints) => endpoints.map(({ pod }) => ({ found: true, targets: [{ id: pod, scope: 'all' }] })),
    inspect: async (targets) => new Map(targets.map(({ id }) => [id, { admin: 'unknown', routable: false, inFlight: null }])),
  }
  expect(codes(await ask(cluster, undefined, balancing(blind)))).toEqual([])
})

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases'

/** Creates the ledger of an unfinished run of statefulset/web, and its Lease with a renewal `renewedAgoMs` ago. */
function openRun({ apiServer, clock }: Embedded, renewedAgoMs: number): void {
  const put = (path: string, object: object): void => {
    const answer = apiServer.handle({ method: 'POST', path, headers: {}, body: JSON.stringify(object) }, 'sluice')
    expect(answer.status, answer.text).toBe(201)
  }
  const workload = { group: 'apps', version: 'v1', kind: 'StatefulSet', plural: 'statefulsets', name: 'web', uid: 'w' }
  const header = { run: 'r1', workloads: [workload], images: [], startedAt: '2026-01-01T00:00:00.000Z', chunks: 1 }
  const [data] = ledgerChunks({ header, entries: new Map() })
  put('/api/v1/namespaces/default/configmaps', { metadata: { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }, data })
  const renewTime = new Date(clock.wallNow() - renewedAgoMs).toISOString()
  put(LEASE, {
    metadata: { name: 'sluice-statefulset-web' },
    spec: { holderIdentity: 'ci_1', leaseDurationSeconds: 15, leaseTransitions: 1, renewTime },
  })
}

test('a run that a process is at work on is no finding, and its records are left alone', async () => {
  const cluster = await started()
  openRun(cluster, 2_000)
  const report = await ask(cluster)
  expect(codes(report)).toEqual([])
  expect(report.checks.find(({ check }) => check === 'unneeded-records')!.skipped).toEqual([
    { code: 'run-at-work', namespace: 'default', holders: ['ci_1'] },
  ])
})

test('a run whose process has not renewed its Lease is left open', async () => {
  const cluster = await started()
  openRun(cluster, 120_000)
  const report = await ask(cluster)
  expect(report.checks.flatMap(({ findings }) => findings)).toMatchObject([
    { code: 'run-open', namespace: 'default', workload: 'statefulset/web', run: 'r1' },
  ])
  // Without a namespace, the doctor looks at the namespace that has records.
  expect(codes(await ask(cluster, {}))).toEqual(['run-open'])
})

test('a node whose kubelet stands still is found', async () => {
  const cluster = await started()
  cluster.stopKubelet('node-0')
  await cluster.clock.advance(60_000)
  const report = await ask(cluster)
  expect(report.checks.find(({ check }) => check === 'heartbeats')!.findings).toMatchObject([
    { code: 'node-not-ready', node: 'node-0', status: 'Unknown' },
  ])
})

test('by the rights that `sluice rbac --for doctor` prints everything is looked at, and a probe made; those of a run are another matter', async () => {
  const cluster = await started()
  const allowed = (rights: readonly Right[], { verb, group, resource }: AccessAttributes): boolean =>
    rights.some((right) => right.group === group && right.resource === resource && right.verbs.includes(verb))
  let inNamespace = rightsOfDoctorIn(KINDS)
  cluster.apiServer.authorize((_, attributes) => {
    const { group, namespace, subresource, verb } = attributes
    if (group === 'authorization.k8s.io' || (subresource === 'status' && verb === 'patch')) return true
    return allowed(rightsOfDoctor(KINDS), attributes) || (namespace === 'default' && allowed(inNamespace, attributes))
  })
  const adapter = createMemoryAdapter(createMemoryBalancer([{ name: 'a', address: podIp(cluster), port: 80 }]))
  const withEntries: Adapter = { ...adapter, entries: async () => [{ id: 'x', address: '192.0.2.1', port: 80 }] }
  const request = { namespace: 'default', probeIn: 'default' }
  const report = await ask(cluster, request, balancing(withEntries))
  expect(report.checks.flatMap(({ skipped }) => skipped.filter(({ code }) => code === 'no-right'))).toEqual([])
  expect(codes(report)).toEqual(['rights-missing', 'server-without-pod'])
  inNamespace = [...inNamespace, ...rightsOfRun(KINDS.all.map((kind) => ({ kind })))]
  expect(codes(await ask(cluster, request, balancing(withEntries)))).toEqual(['server-without-pod'])
  inNamespace = rightsOfDoctorIn(KINDS)
  // The rights for all namespaces leave out ConfigMaps, so the records cannot be read.
  const ofAll = await ask(cluster, {})
  expect(ofAll.checks.filter(({ group }) => group === 'records').flatMap(({ skipped }) => skipped)).toEqual([
    { code: 'no-right', right: 'list configmaps' },
    { code: 'no-right', right: 'list configmaps' },
  ])
})

test('a label that somebody puts on a slice alone is found, until its controller has taken it away', async () => {
  const cluster = await started()
  const { store } = cluster.apiServer
  const [slice] = store.list('endpointslices.discovery.k8s.io', 'default')
  const { name, labels: own } = slice!.metadata
  store.update(
    'endpointslices.discovery.k8s.io',
    'default',
    name,
    (now) => ({ ...now, metadata: { ...now.metadata, labels: { ...own, injected: 'yes' } } }),
    'somebody',
  )
  expect((await ask(cluster)).checks.flatMap(({ findings }) => findings)).toMatchObject([
    { code: 'endpoints-labels-differ', object: 'EndpointSlice', name, labels: [{ name: 'injected', onEndpoints: 'yes' }] },
  ])
  cluster.apply({ ...SERVICE, metadata: { name: 'web', labels: { team: 'other' } } })
  await cluster.clock.advance(1_000)
  expect(codes(await ask(cluster))).toEqual([])
})

const ADMISSION = '/apis/admissionregistration.k8s.io/v1'

/** Adds a webhook that fails closed for namespace default. Its server is the Service web. */
function guarded(cluster: Embedded): void {
  const webhook = {
    name: 'guard.example.dev',
    clientConfig: { service: { namespace: 'default', name: 'web' } },
    rules: [{ apiGroups: [''], resources: ['pods'], operations: ['CREATE'] }],
  }
  cluster.lists.set(`${ADMISSION}/validatingwebhookconfigurations`, [{ metadata: { name: 'guard' }, webhooks: [webhook] }])
  cluster.lists.set(`${ADMISSION}/mutatingwebhookconfigurations`, [])
}

test('of a webhook that fails closed it is asked whether its server is there', async () => {
  const cluster = await started()
  guarded(cluster)
  const risks = ['webhook-locks-itself-out', 'webhook-fails-closed']
  expect(codes(await ask(cluster))).toEqual(risks)
  cluster.unready('default', 'web-0', 'app', 600_000)
  await cluster.clock.advance(30_000)
  expect(codes(await ask(cluster))).toEqual(['webhook-without-server', ...risks])
})

test('Endpoints and budgets are read where they are served', async () => {
  const cluster = await started()
  const endpoints = (own: object): object => ({ metadata: { namespace: 'default', name: 'web', labels: own } })
  const right = {
    team: 'shop',
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
    'service.kubernetes.io/headless': '',
  }
  cluster.lists.set('/api/v1/namespaces/default/endpoints', [endpoints({ ...right, injected: 'yes' })])
  cluster.lists.set('/apis/policy/v1/namespaces/default/poddisruptionbudgets', [
    {
      metadata: { namespace: 'default', name: 'web' },
      status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
    },
  ])
  expect(codes(await ask(cluster))).toEqual(['endpoints-labels-differ', 'budget-allows-nothing'])
  cluster.lists.set('/api/v1/namespaces/default/endpoints', [endpoints(right)])
  expect(codes(await ask(cluster))).toEqual(['budget-allows-nothing'])
})
