import { expect, test } from 'vitest'
import { type Adapter, AdapterError } from '../../../adapters/contract.ts'
import { createApiServer } from '../../../sim/api-server/api-server.ts'
import { createCluster } from '../../../sim/cluster.ts'
import { isReady, type Pod } from '../../../sim/kubelet/pod.ts'
import type { LoadBalancer } from '../../engine/request.ts'
import { createKubeClient } from '../../kube/kube-client.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { Transport } from '../../kube/transport.ts'
import type { ObservedEvent } from '../events.ts'
import type { ObserverSummary, Told } from '../told.ts'
import { observeClusters } from './observe.ts'
import { rightsOfObserver } from './rights.ts'

/* The observation of an embedded cluster and its load balancers, in virtual time. */

const labels = { app: 'web' }
const OBJECTS = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { clusterIP: '10.96.0.7', selector: labels, ports: [{ name: 'http', port: 80, targetPort: 80, protocol: 'TCP' }] },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      serviceName: 'web',
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'app', image: 'app:v1', ports: [{ containerPort: 80 }], readinessProbe: { periodSeconds: 1 } }],
        },
      },
    },
  },
]

interface Given {
  endpointLag?: readonly [number, number]
  /** The API server refuses paths with this beginning. */
  refused?: string
  loadBalancers?: LoadBalancer[]
  onLease?: () => void
}

async function start({ endpointLag = [1, 8], refused = '', loadBalancers = [], onLease }: Given = {}) {
  const clock = createVirtualClock()
  let seed = 7
  const random = { next: () => (seed = (seed * 16_807 + 11) % 2_147_483_647) / 2_147_483_647 }
  const apiServer = createApiServer({ clock, random })
  const cluster = createCluster({
    clock,
    random,
    apiServer,
    images: { 'app:v1': { digest: 'sha256:v1' } },
    behaviour: { endpointLag },
  })
  const asked = new Set<string>()
  const streams = new Set<() => void>()
  let isDown = false
  let isRefused = true
  const transport: Transport = {
    async send(request) {
      asked.add(request.path.split('?')[0]!)
      if (isDown) throw new Error('connection refused')
      if (isRefused && refused !== '' && request.path.startsWith(refused))
        return {
          status: 403,
          headers: {},
          text: JSON.stringify({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'no' }),
        }
      return apiServer.handle(request, 'sluice')
    },
    stream: (request, onLine, onOpen) =>
      new Promise((resolve, reject) => {
        if (isDown) return reject(new Error('connection refused'))
        const end = (): void => resolve({ status: 200, headers: {}, text: '' })
        const watching = apiServer.watch(request, { line: onLine, end }, 'sluice')
        if (watching.kind === 'refused') return resolve(watching.answer)
        onOpen?.()
        streams.add(() => {
          watching.close()
          end()
        })
        request.signal?.addEventListener('abort', () => {
          watching.close()
          end()
        })
      }),
    close: () => Promise.resolve(),
  }
  cluster.apply(...OBJECTS)
  const pods = (): Pod[] => apiServer.store.list('pods', 'default') as Pod[]
  await clock.runUntil(() => pods().length === 2 && pods().every(isReady))
  await clock.advance(10_000 + 2 * endpointLag[1])

  const stopping = new AbortController()
  const told: Told[] = []
  const events: ObservedEvent[] = []
  const summary = observeClusters({
    clusters: [{ name: 'east', open: async () => ({ client: createKubeClient({ transport, clock, random }) }) }],
    allNamespaces: true,
    loadBalancers,
    clock,
    random,
    graceMs: 10_000,
    pollMs: 1_000,
    signal: stopping.signal,
    onEvent: (event) => events.push(event),
    onTold: (one) => told.push(one),
    onLease,
  })
  await clock.runUntil(() => events.some(({ type }) => type === 'synced'))
  return {
    cluster,
    clock,
    asked,
    pods,
    told,
    events,
    findings: () => told.flatMap((one) => (one.type === 'finding' ? [one.finding] : [])),
    allowAll() {
      isRefused = false
    },
    setDown(is: boolean) {
      isDown = is
      if (is) for (const end of streams) end()
      if (is) streams.clear()
    },
    async end(): Promise<ObserverSummary> {
      stopping.abort()
      await clock.settle()
      return summary
    },
  }
}

test('the lag of the endpoint controller is the one that is measured', async () => {
  const scene = await start({ endpointLag: [3_000, 3_001] })
  scene.cluster.unready('default', 'web-1', 'app', 600_000)
  await scene.clock.advance(20_000)
  expect(scene.told.map((one) => [one.type, 'change' in one && one.change])).toEqual([
    ['pod', 'not-ready'],
    ['endpoint', 'not-ready'],
  ])
  const { legs, findings } = await scene.end()
  expect([legs, findings]).toEqual([
    [expect.objectContaining({ namespace: 'default', service: 'web', leg: 'pod-endpointslice', changes: 1 })],
    [],
  ])
  expect(Math.abs(legs[0]!.maxMs - 3_000)).toBeLessThan(50)
})

test('it asks for what its rights name, for Leases where these are asked for, and for nothing else but the version', async () => {
  const scene = await start()
  await scene.end()
  const needed = rightsOfObserver().filter(({ isOptional }) => isOptional !== true)
  const paths = needed.map(({ group, resource, verbs }) => {
    expect(verbs).toEqual(['list', 'watch'])
    return `${group === '' ? '/api/v1' : `/apis/${group}/v1`}/${resource}`
  })
  expect([...scene.asked].sort()).toEqual([...paths, '/version'].sort())
  const withLeases = await start({ onLease() {} })
  await withLeases.end()
  const leases = rightsOfObserver().flatMap(({ group, resource, isOptional }) =>
    isOptional ? ['kube-node-lease', 'kube-system'].map((home) => `/apis/${group}/v1/namespaces/${home}/${resource}`) : [],
  )
  expect(leases).toHaveLength(2)
  expect([...withLeases.asked].sort()).toEqual([...paths, ...leases, '/version'].sort())
})

test('nodes that may not be read are an event, and the rest is observed as before; a right that is given is noticed', async () => {
  const scene = await start({ refused: '/api/v1/nodes' })
  scene.cluster.unready('default', 'web-1', 'app', 600_000)
  await scene.clock.advance(40_000)
  expect(scene.events).toContainEqual(expect.objectContaining({ type: 'unread', what: 'nodes', cluster: 'east' }))
  expect(scene.findings()).toEqual([])
  expect(scene.events.map(({ type }) => type)).not.toContain('node')
  scene.allowAll()
  await scene.clock.advance(40_000)
  expect(scene.events.map(({ type }) => type)).toEqual(expect.arrayContaining(['node', 'read']))
  const { legs, findings } = await scene.end()
  expect([legs.length, findings]).toEqual([1, []])
})

test('an API server that goes away is one finding; what happened meanwhile is told once it is back', async () => {
  const scene = await start()
  scene.setDown(true)
  await scene.clock.advance(40_000)
  expect(scene.findings()).toMatchObject([{ code: 'cluster-unreachable', cluster: 'east' }])
  scene.cluster.deletePod('default', 'web-1')
  await scene.clock.advance(5_000)
  expect(scene.told.filter(({ type }) => type === 'pod')).toEqual([])
  scene.setDown(false)
  await scene.clock.advance(60_000)
  expect(scene.told).toContainEqual(expect.objectContaining({ type: 'pod', pod: 'web-1', change: 'gone' }))
  expect(scene.events.map(({ type }) => type)).toContain('reached')
  await scene.end()
  expect(scene.findings()).toHaveLength(1)
})

test('a pod that is deleted while the controller lags is a stale address of its slice', async () => {
  const scene = await start({ endpointLag: [30_000, 30_001] })
  const address = scene.pods().find(({ metadata }) => metadata.name === 'web-1')!.status!.podIP!
  scene.cluster.deletePod('default', 'web-1', { force: true })
  await scene.clock.advance(60_000)
  await scene.end()
  expect(scene.findings()).toMatchObject([
    { code: 'stale-address', object: 'EndpointSlice', pod: 'web-1', address, why: 'pod-gone', sinceMs: 10_000 },
  ])
})

test('a kubelet that stands still takes its pods out of rotation, and is told as such; its pods do not flap', async () => {
  const scene = await start()
  scene.cluster.stopKubelet('node-0')
  await scene.clock.advance(130_000)
  scene.cluster.continueKubelet('node-0')
  await scene.clock.advance(30_000)
  await scene.end()
  expect(scene.findings()).toMatchObject([
    { code: 'pods-lost-with-heartbeat', node: 'node-0', ready: 'Unknown', pods: ['web-0', 'web-1'] },
  ])
})

test('a container that fails again and again is a pod that flaps; its addresses are not stale', async () => {
  const scene = await start()
  for (let times = 0; times < 3; times += 1) {
    scene.cluster.unready('default', 'web-1', 'app', 5_000)
    await scene.clock.advance(20_000)
  }
  await scene.end()
  expect(scene.findings()).toMatchObject([{ code: 'pod-flaps', pod: 'web-1', times: 3 }])
})

function balancer(adapter: Pick<Adapter, 'resolve' | 'inspect'>): LoadBalancer {
  return { name: 'edge', adapterName: 'fake', port: 80, adapter: adapter as Adapter }
}

test('a load balancer that lists nothing is asked for the pods: nothing of the beginning is a change', async () => {
  let isOut = false
  let isDown = false
  const adapter: Pick<Adapter, 'resolve' | 'inspect'> = {
    resolve: async (endpoints) => {
      if (isDown) throw new AdapterError('edge', 'retryable', 'no answer')
      return endpoints.map(({ pod }) => ({ found: true, targets: [{ id: pod, scope: 'web' }] }))
    },
    inspect: async (targets) =>
      new Map(
        targets.map(({ id }) => [id, { admin: isOut ? ('out' as const) : ('in' as const), routable: !isOut, inFlight: null }]),
      ),
  }
  const scene = await start({ loadBalancers: [balancer(adapter)] })
  await scene.clock.advance(5_000)
  expect(scene.told).toEqual([])
  isOut = true
  await scene.clock.advance(2_000)
  expect(scene.told).toMatchObject([
    { type: 'entry', entry: 'web-0', change: 'out', pod: 'web-0', lags: [] },
    { type: 'entry', entry: 'web-1', change: 'out', pod: 'web-1', lags: [] },
  ])
  isDown = true
  await scene.clock.advance(5_000)
  await scene.end()
  expect(scene.findings()).toMatchObject([{ code: 'load-balancer-unread', loadBalancer: 'edge' }])
})
