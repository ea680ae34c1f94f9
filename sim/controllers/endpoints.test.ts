import { expect, test } from 'vitest'
import { createApiServer } from '../api-server/api-server.ts'
import { createCluster } from '../cluster.ts'
import { createVirtualTime } from '../testing/virtual-time.ts'

const LABELS = { app: 'web' }

function bed() {
  const clock = createVirtualTime()
  let seed = 7
  const random = { next: () => (seed = (seed * 16_807 + 11) % 2_147_483_647) / 2_147_483_647 }
  const apiServer = createApiServer({ clock, random, servesEndpoints: true })
  const images = { 'app:v1': { digest: 'sha256:v1' } }
  const cluster = createCluster({ clock, random, apiServer, images, behaviour: { endpointsPerSecond: 10 } })
  const { store } = apiServer
  const writes: { name: string; at: number }[] = []
  store.subscribe((resource, { after, by }) => {
    if (resource !== 'endpoints' || after === undefined || by !== 'endpoint-controller') return
    writes.push({ name: after.metadata.name, at: clock.now() })
  })
  const service = (name: string, selector: object | null, labels = {}) =>
    cluster.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, labels },
      spec: { clusterIP: 'None', selector, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    })
  const read = (name: string) => store.get('endpoints', 'default', name) as { subsets?: unknown; metadata: { labels?: object } }
  const change = (name: string, fields: object) =>
    store.update('endpoints', 'default', name, (now) => ({ ...now, ...fields }), 'somebody')
  return { clock, cluster, store, writes, service, read, change }
}

test('Endpoints have the ready and the not ready pods of the selector, with the labels of the Service', () => {
  const { clock, cluster, store, service, read } = bed()
  service('web', LABELS, { team: 'shop' })
  for (const name of ['web-0', 'web-1'])
    cluster.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: LABELS },
      spec: { containers: [{ name: 'app', image: 'app:v1', readinessProbe: { periodSeconds: 1 } }] },
    })
  clock.advance(10_000)
  cluster.unready('default', 'web-1', 'app', 60_000)
  clock.advance(10_000)
  const of = (name: string) => {
    const pod = store.get('pods', 'default', name) as unknown as { metadata: { uid: string }; status: { podIP: string } }
    const targetRef = { kind: 'Pod', namespace: 'default', name, uid: pod.metadata.uid }
    return { ip: pod.status.podIP, nodeName: 'node-0', targetRef }
  }
  expect(read('web').subsets).toEqual([
    { addresses: [of('web-0')], notReadyAddresses: [of('web-1')], ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] },
  ])
  expect(read('web').metadata.labels).toEqual({
    team: 'shop',
    'service.kubernetes.io/headless': '',
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
  })
})

test('what another client writes stays until the next sync; a sync writes at its rate, and nothing where nothing differs', () => {
  const { clock, cluster, writes, service, read, change } = bed()
  for (const name of ['a', 'b', 'c']) service(name, LABELS)
  clock.advance(5_000)
  expect(writes.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  for (const name of ['a', 'c']) change(name, { subsets: [{ addresses: [{ ip: '192.0.2.1' }] }] })
  clock.advance(60_000)
  expect(read('a').subsets).toBeDefined()
  cluster.resyncEndpoints()
  clock.advance(5_000)
  expect(read('a').subsets).toBeUndefined()
  expect(writes.slice(3).map(({ name }) => name)).toEqual(['a', 'c'])
  expect(writes[4]!.at - writes[3]!.at).toBeGreaterThanOrEqual(100)
})

test("Endpoints of a Service without a selector are nobody else's; those of a Service that is gone go", () => {
  const { clock, cluster, store, service, read, change } = bed()
  service('db', LABELS)
  clock.advance(1_000)
  service('db', null)
  change('db', { subsets: [{ addresses: [{ ip: '192.0.2.1' }] }] })
  cluster.resyncEndpoints()
  clock.advance(1_000)
  expect(read('db').subsets).toEqual([{ addresses: [{ ip: '192.0.2.1' }] }])
  store.remove('services', 'default', 'db', 'somebody')
  clock.advance(1_000)
  expect(read('db')).toBeUndefined()
})
