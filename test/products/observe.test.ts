import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  connect,
  type LeaseChange,
  observe,
  type ObserverFindingCode,
  type ObserverFindingOf,
  type ObserverSummary,
  type Told,
} from '../../src/index.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { type ControlPlane, type Json, startControlPlane } from './endpoints/control-plane.ts'
import { forEach } from './endpoints/play.ts'
import { findKubernetes } from './kubernetes.ts'
import { describeOn } from './program.ts'

/*
 * Each finding that the controllers of Kubernetes can cause, on a real API server. The test writes the status of pods as kubelets do,
 * and the changes of people and other programs.
 */

const SETTLES_WITHIN_MS = 30_000
const GRACE_MS = 2_000
const BEAT_MS = 1_000
/** The controllers need nine seconds for a change of all these Services. */
const [MANY, REQUESTS_A_SECOND] = [55, 6]
/** Endpoints have room for 1,000 addresses. */
const TOO_MANY = 1_001
const NAMESPACE = 'shop'
const AT = '2026-01-01T00:00:00Z'
const at = (of: string, name = ''): string => `/api/v1/namespaces/${NAMESPACE}/${of}${name === '' ? '' : `/${name}`}`

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  const [told, leases]: [Told[], LeaseChange[]] = [[], []]
  const stopping = new AbortController()
  let plane: ControlPlane
  let ended: Promise<ObserverSummary>
  let beating: NodeJS.Timeout
  const alive = new Set(['node-a', 'node-b'])

  beforeAll(async () => {
    plane = await startControlPlane(programs, {
      controllers: 'endpoints-controller,endpointslice-controller,node-lifecycle-controller',
      'leader-elect': 'true',
      'node-monitor-period': '1s',
      'node-monitor-grace-period': '6s',
      'kube-api-qps': String(REQUESTS_A_SECOND),
      'kube-api-burst': String(REQUESTS_A_SECOND),
    })
    for (const name of alive) await makeNode(name)
    beating = setInterval(() => alive.forEach((name) => void beat(name).catch(() => {})), BEAT_MS)
    await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } })
    const cluster = await connect({ kubeconfig: plane.kubeconfig, namespace: NAMESPACE })
    let isSynced = false
    ended = observe({
      clusters: [{ name: 'real', cluster, managerMetrics: { url: plane.managerMetricsUrl, isInsecure: true } }],
      graceMs: GRACE_MS,
      signal: stopping.signal,
      onTold: (one) => told.push(one),
      onEvent: ({ type }) => (isSynced ||= type === 'synced'),
      onLease: (change) => leases.push(change),
    }).finally(() => cluster.close())
    await vi.waitUntil(() => isSynced, { timeout: SETTLES_WITHIN_MS })
  }, 60_000)
  afterAll(async () => {
    clearInterval(beating)
    stopping.abort()
    await ended
    await plane?.stop()
  })

  async function makeNode(name: string): Promise<void> {
    await plane.ask('POST', '/api/v1/nodes', { metadata: { name } })
    await report(name)
  }

  async function report(name: string): Promise<void> {
    const now = new Date().toISOString()
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: now, lastTransitionTime: now }
    await plane.ask('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions: [ready] } })
    await beat(name)
  }

  async function beat(node: string): Promise<void> {
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
    const spec = { holderIdentity: node, leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace('Z', '000Z') }
    await plane.ask('PATCH', `${path}/${node}`, { spec }).catch(() => plane.ask('POST', path, { metadata: { name: node }, spec }))
  }

  async function makeService(name: string): Promise<void> {
    const ports = [{ name: 'http', port: 80, targetPort: 8080 }]
    await plane.ask('POST', at('services'), { metadata: { name }, spec: { selector: { app: name }, ports } })
  }

  async function makePod(service: string, place: number, ip: string, nodeName = 'node-a'): Promise<void> {
    const containers = [{ name: 'app', image: 'app:v1', ports: [{ containerPort: 8080 }] }]
    const name = `${service}-${place}`
    await plane.ask('POST', at('pods'), { metadata: { name, labels: { app: service } }, spec: { nodeName, containers } })
    await setReady(name, true, { phase: 'Running', podIP: ip, podIPs: [{ ip }], startTime: AT })
  }

  async function setReady(pod: string, isReady: boolean, more: Json = {}): Promise<void> {
    const status = isReady ? 'True' : 'False'
    const conditions = ['ContainersReady', 'Ready'].map((type) => ({ type, status, lastTransitionTime: AT }))
    const app = { name: 'app', ready: isReady, restartCount: 0, image: 'app:v1', imageID: 'sha256:1' }
    await plane.ask('PATCH', `${at('pods', pod)}/status?fieldManager=kubelet`, {
      status: { ...more, conditions, containerStatuses: [{ ...app, state: { running: { startedAt: AT } } }] },
    })
  }

  function rewriteEndpoints(service: string, subsets: Json, by: string): Promise<Json> {
    return plane.ask('PATCH', `${at('endpoints', service)}?fieldManager=${by}`, { subsets })
  }

  function found<Code extends ObserverFindingCode>(code: Code): ObserverFindingOf<Code>[] {
    return told.flatMap((one) =>
      one.type === 'finding' && one.finding.code === code ? [one.finding as unknown as ObserverFindingOf<Code>] : [],
    )
  }

  function changes(service: string, change: string): Told[] {
    return told.filter((one) => one.type === 'endpoint' && one.service === service && one.change === change)
  }

  const until = (is: () => boolean): Promise<unknown> => vi.waitUntil(is, { timeout: SETTLES_WITHIN_MS, interval: 50 })

  test('a pod turns ready and not ready: EndpointSlice and Endpoints follow, each with its lag and its trigger', async () => {
    await makeService('web')
    await makePod('web', 0, '10.3.0.1')
    await until(() => changes('web', 'ready').length === 2)
    await setReady('web-0', false)
    await until(() => changes('web', 'not-ready').length === 2)
    for (const change of changes('web', 'not-ready'))
      expect(change).toMatchObject({ pod: 'web-0', address: '10.3.0.1', lagMs: expect.any(Number) })
    expect(
      changes('web', 'not-ready')
        .map((one) => 'object' in one && one.object)
        .toSorted(),
    ).toEqual(['EndpointSlice', 'Endpoints'])
  })

  test('the pod is gone while the controller manager stands still: its address is stale, in both, until it goes on', async () => {
    await setReady('web-0', true)
    await until(() => changes('web', 'ready').length === 4)
    plane.freezeManager()
    try {
      await plane.ask('DELETE', at('pods', 'web-0'), { gracePeriodSeconds: 0 })
      await until(() => found('stale-address').length === 2)
    } finally {
      plane.thawManager()
    }
    for (const finding of found('stale-address'))
      expect(finding).toMatchObject({ namespace: NAMESPACE, service: 'web', address: '10.3.0.1', pod: 'web-0', why: 'pod-gone' })
    await until(() => changes('web', 'gone').length >= 2)
  })

  test('a pod that flaps', async () => {
    await makePod('web', 1, '10.3.0.2')
    const name = 'web-1'
    const turns = (): number =>
      told.filter((one) => one.type === 'pod' && one.pod === name && (one.change === 'ready' || one.change === 'not-ready'))
        .length
    // A change before the first observation does not count.
    await until(() => turns() > 0)
    for (const isReady of [false, true, false, true, false]) {
      const before = turns()
      await setReady(name, isReady)
      await until(() => turns() > before)
    }
    await until(() => found('pod-flaps').length > 0)
    expect(found('pod-flaps')).toMatchObject([{ namespace: NAMESPACE, pod: name, times: 3 }])
  })

  test('Endpoints by hand; and a person and the controller that undo each other', async () => {
    await makeService('hand')
    await makePod('hand', 0, '10.3.0.3')
    await until(() => changes('hand', 'ready').length === 2)
    const foreign = [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }]
    const isForeign = async (): Promise<boolean> =>
      (await plane.ask('GET', at('endpoints', 'hand'))).subsets?.[0]?.addresses?.[0]?.ip === '192.0.2.1'
    for (const round of [1, 2]) {
      await rewriteEndpoints('hand', foreign, 'kubectl-edit')
      await until(() => found('endpoints-by-hand').length === round)
      // The controller syncs a Service that was changed.
      await plane.ask('PATCH', at('services', 'hand'), { metadata: { annotations: { touched: String(round) } } })
      await expect.poll(isForeign, { timeout: SETTLES_WITHIN_MS }).toBe(false)
    }
    expect(found('endpoints-by-hand')[0]).toMatchObject({
      service: 'hand',
      addresses: ['192.0.2.1'],
      by: { manager: 'kubectl-edit', is: 'person' },
    })
    await until(() => found('writers-undo-each-other').length > 0)
    const [{ writers, object }] = found('writers-undo-each-other') as [ObserverFindingOf<'writers-undo-each-other'>]
    expect([object, ...writers.map(({ is }) => is).toSorted()]).toEqual(['Endpoints', 'controller-manager', 'person'])
  })

  test('many pods turn at once: a backlog, beside the queue and the PUTs of the controller manager itself', async () => {
    const names = Array.from({ length: MANY }, (_, index) => `many-${index}`)
    await forEach(names, async (name) => {
      await makeService(name)
      await makePod(name, 0, `10.4.0.${names.indexOf(name)}`)
    })
    const settled = (change: string): boolean => names.every((name) => changes(name, change).length === 2)
    await until(() => settled('ready'))
    const before = found('backlog').length
    await forEach(names, (name) => setReady(`${name}-0`, false))
    await until(() =>
      found('backlog')
        .slice(before)
        .some(({ isOver }) => !isOver),
    )
    await until(() => settled('not-ready'))
    await until(() =>
      found('backlog')
        .slice(before)
        .some(({ isOver }) => isOver),
    )
    const began = found('backlog')
      .slice(before)
      .find(({ isOver }) => !isOver)!
    expect(began.services).toBeGreaterThanOrEqual(10)
    expect(began.perSecond).toBeGreaterThan(REQUESTS_A_SECOND / 2)
    expect(began.perSecond).toBeLessThan(REQUESTS_A_SECOND * 2)
    expect(began.putsPerSecond).toBeGreaterThan(0)
    expect(began.workqueueDepth).toBeGreaterThanOrEqual(0)
  }, 90_000)

  test('a client rewrites all Endpoints without a change: a sweep, by its name, and no more than that', async () => {
    const [others, addresses] = [told.length, told.filter(({ type }) => type === 'endpoint').length]
    await forEach(
      Array.from({ length: MANY }, (_, index) => `many-${index}`),
      async (name) => {
        await plane.ask('PATCH', `${at('endpoints', name)}?fieldManager=rewriter`, { metadata: { annotations: { swept: AT } } })
      },
    )
    await until(() => found('sweep').length > 0)
    expect(found('sweep')[0]).toMatchObject({ object: 'Endpoints', isOver: false, by: { manager: 'rewriter' } })
    expect(told.filter(({ type }) => type === 'endpoint')).toHaveLength(addresses)
    expect(told.slice(others).filter((one) => one.type === 'finding' && one.finding.code !== 'sweep')).toEqual([])
  })

  test('more pods than Endpoints have room for', async () => {
    // The Service comes last, so that its controllers sync once.
    await forEach(
      Array.from({ length: TOO_MANY }, (_, index) => index),
      (index) => makePod('large', index, `10.5.${index >> 8}.${index & 255}`),
    )
    await makeService('large')
    await until(() => found('endpoints-truncated').length > 0)
    expect(found('endpoints-truncated')).toMatchObject([{ namespace: NAMESPACE, service: 'large', addresses: 1_000 }])
  }, 90_000)

  test('a heartbeat comes late: the pods of that node are lost with it, and no others; the Leases are told', async () => {
    await makeService('beat')
    await makePod('beat', 0, '10.6.0.1', 'node-b')
    await until(() => changes('beat', 'ready').length === 2)
    alive.delete('node-b')
    await until(() => told.some((one) => one.type === 'node' && one.node === 'node-b' && one.ready === 'Unknown'))
    await until(() => changes('beat', 'not-ready').length >= 2)
    // observe waits whether a silent node goes away.
    alive.add('node-b')
    await report('node-b')
    await until(() => found('pods-lost-with-heartbeat').length > 0)
    expect(found('pods-lost-with-heartbeat')).toMatchObject([{ node: 'node-b', ready: 'True', pods: ['beat-0'] }])
    expect(leases.some((one) => one.type === 'node-renewed' && one.node === 'node-a' && one.gapMs >= BEAT_MS / 2)).toBe(true)
    expect(leases.some((one) => one.type === 'part-renewed' && one.part === 'kube-controller-manager')).toBe(true)
  })
})
