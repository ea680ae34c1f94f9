import { expect, test } from 'vitest'
import { createApiServer } from '../../../sim/api-server/api-server.ts'
import { createCluster } from '../../../sim/cluster.ts'
import { createKubeClient } from '../../kube/kube-client.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { isReady } from '../../endpoints/readiness.ts'
import type { StoredPod } from '../../endpoints/stored.ts'
import type { Transport } from '../../kube/transport.ts'
import { keptEndpoints, keptPod, keptSlice } from './kept-fields.ts'
import { openClusterView } from './open-cluster-view.ts'

/* The view of an embedded cluster, in virtual time. */

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
      replicas: 3,
      serviceName: 'web',
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'app', image: 'app:v1', readinessProbe: { periodSeconds: 1 } }],
        },
      },
    },
  },
]

interface Given {
  /** The status of each list of a path that begins so. */
  refused?: Record<string, number>
}

async function start({ refused = {} }: Given = {}) {
  const clock = createVirtualClock()
  let seed = 7
  const random = { next: () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647 }
  const apiServer = createApiServer({ clock, random })
  const cluster = createCluster({ clock, random, apiServer, images: { 'app:v1': { digest: 'sha256:v1' } } })
  cluster.apply(...OBJECTS)
  await clock.advance(20_000)
  const cuts = new Set<() => void>()
  function refusal(path: string) {
    const [, status] = Object.entries(refused).find(([begin]) => path.startsWith(begin)) ?? []
    if (status === undefined) return undefined
    const reason = status === 404 ? 'NotFound' : 'Forbidden'
    return { status, headers: {}, text: JSON.stringify({ kind: 'Status', code: status, reason, message: 'no' }) }
  }
  const transport: Transport = {
    send: async (request) => refusal(request.path) ?? apiServer.handle(request, 'sluice'),
    stream: (request, onLine, onOpen) =>
      new Promise((resolve) => {
        const answer = refusal(request.path)
        if (answer !== undefined) return resolve(answer)
        const end = (): void => resolve({ status: 200, headers: {}, text: '' })
        cuts.add(end)
        const watching = apiServer.watch(request, { line: onLine, end }, 'sluice')
        if (watching.kind === 'refused') return resolve(watching.answer)
        onOpen?.()
        request.signal?.addEventListener('abort', () => {
          watching.close()
          end()
        })
      }),
    close: () => Promise.resolve(),
  }
  const stopping = new AbortController()
  const concerned: string[] = []
  const states: string[] = []
  const turns: string[] = []
  const readyWord = (pod: StoredPod | undefined): string => (pod === undefined ? 'none' : isReady(pod) ? 'ready' : 'not')
  const view = openClusterView({
    client: createKubeClient({ transport, clock, random }),
    clock,
    random,
    namespaces: ['default'],
    onChange: (services, { kind }) => concerned.push(...services.map(({ name }) => `${kind} ${name}`)),
    onPod: (uid, before, now) => turns.push(`${uid} ${readyWord(before)} ${readyWord(now)}`),
    onState: ({ kind, namespace, is }) => states.push(`${kind} ${namespace ?? '-'} ${is}`),
    signal: stopping.signal,
  })
  await clock.advance(1_000)
  return {
    clock,
    cluster,
    view,
    states,
    /** The changes of pods. */
    turns,
    refused,
    /** Ends all watches, as a server does that restarts. */
    cut: () => cuts.forEach((end) => end()),
    taken: () => concerned.splice(0),
    async stop() {
      stopping.abort()
      await clock.settle()
      await view.ended
    },
  }
}

test('the view follows pods, Services and slices', async () => {
  const { clock, cluster, view, taken, turns, stop } = await start()
  expect([view.isListed(), view.isCurrent('default')]).toEqual([true, true])
  const web = view.service('default', 'web')!
  expect(view.podsOf(web)).toEqual({ all: 3, ready: 3 })
  taken()
  const [first] = view.selectedPods(web)
  const { uid, name } = first!.metadata
  expect(view.previousOf('default', 'web', 'EndpointSlice', uid)).toEqual({ ready: true, serving: true })
  cluster.unready('default', name, 'app', 60_000)
  await clock.advance(20_000)
  expect(view.podsOf(web)).toEqual({ all: 3, ready: 2 })
  expect(view.previousOf('default', 'web', 'EndpointSlice', uid)).toMatchObject({ ready: false })
  expect(taken()).toEqual(expect.arrayContaining(['Pod web', 'EndpointSlice web']))
  expect(turns).toEqual(expect.arrayContaining([`${uid} none ready`, `${uid} ready not`]))
  expect(view.states().map(({ kind, is, objects }) => [kind, is, objects > 0])).toEqual([
    ['pods', 'current', true],
    ['services', 'current', true],
    ['endpointslices', 'current', true],
    ['endpoints', 'absent', false],
    ['nodes', 'current', true],
  ])
  await stop()
})

test('nodes that may not be read, and Endpoints that are not there, are said and keep nothing back', async () => {
  const { clock, view, states, refused, stop } = await start({
    refused: { '/api/v1/nodes': 403, '/api/v1/namespaces/default/endpoints': 404 },
  })
  expect([view.isListed(), view.isCurrent('default')]).toEqual([true, true])
  expect(states).toEqual(expect.arrayContaining(['nodes - refused', 'endpoints default absent', 'pods default current']))
  expect(view.states().filter(({ isListed }) => !isListed)).toMatchObject([
    { kind: 'endpoints', is: 'absent', because: { status: 404 } },
    { kind: 'nodes', is: 'refused', because: { status: 403 } },
  ])
  delete refused['/api/v1/nodes']
  await clock.advance(31_000)
  expect(states).toContain('nodes - current')
  await stop()
})

test.each([403, 404, 503])(
  'objects that were listed, and then answer %i, are stale after two minutes and until they are read again',
  async (status) => {
    const { clock, view, refused, cut, stop } = await start()
    refused['/api/v1/namespaces/default/pods'] = status
    cut()
    await clock.advance(60_000)
    expect(view.stale('default')).toEqual([])
    await clock.advance(65_000)
    expect([view.isListed(), view.stale('default'), view.stale('other')]).toEqual([true, ['pods'], []])
    delete refused['/api/v1/namespaces/default/pods']
    await clock.advance(60_000)
    expect(view.stale('default')).toEqual([])
    await stop()
  },
)

test('pods that may not be read leave the stored objects without a second look', async () => {
  const { view, stop } = await start({ refused: { '/api/v1/namespaces/default/pods': 403 } })
  expect([view.isListed(), view.isCurrent('default')]).toEqual([true, false])
  await stop()
})

test('a pod keeps what rules read, and leaves the rest', () => {
  const pod = keptPod({
    metadata: {
      name: 'web-0',
      namespace: 'shop',
      uid: 'a',
      resourceVersion: '7',
      annotations: { mine: 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
      managedFields: [
        { manager: 'kubectl', fieldsV1: { 'f:spec': {} } },
        {
          manager: 'kubelet',
          subresource: 'status',
          time: '2026-01-01T00:00:00Z',
          fieldsV1: { 'f:status': { 'f:phase': {}, 'f:conditions': { 'k:{"type":"Ready"}': { 'f:status': {} } } } },
        },
      ],
    },
    spec: {
      volumes: [{}],
      containers: [{ name: 'app', image: 'app:v1', env: [{ name: 'A' }], ports: [{ name: 'http', containerPort: 80 }] }],
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null }], resize: 'x' },
  })
  expect(pod).toEqual({
    metadata: {
      name: 'web-0',
      namespace: 'shop',
      uid: 'a',
      resourceVersion: '7',
      annotations: { mine: 'x', 'kubectl.kubernetes.io/last-applied-configuration': '' },
      managedFields: [
        {
          manager: 'kubelet',
          subresource: 'status',
          time: '2026-01-01T00:00:00Z',
          fieldsV1: { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { 'f:status': {} } } } },
        },
      ],
    },
    spec: { containers: [{ name: 'app', image: 'app:v1', ports: [{ name: 'http', containerPort: 80 }] }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  })
})

test('slices and Endpoints keep the time of their last write, and no managers', () => {
  const metadata = {
    name: 'web-1',
    namespace: 'shop',
    managedFields: [
      { manager: 'sluice', time: '2026-01-01T00:00:09Z', fieldsV1: {} },
      { manager: 'kube-controller-manager', time: '2026-01-01T00:00:02Z' },
      { manager: 'none' },
    ],
  }
  const kept = { name: 'web-1', namespace: 'shop', managedFields: [{ time: '2026-01-01T00:00:09Z' }] }
  expect(keptSlice({ metadata, addressType: 'IPv4', endpoints: [] }).metadata).toEqual(kept)
  expect(keptEndpoints({ metadata }).metadata).toEqual(kept)
  const { managedFields: _, ...bare } = metadata
  expect(keptEndpoints({ metadata: bare }).metadata).toEqual(bare)
})
