import { expect, test } from 'vitest'
import type { Node, Pod, Service, SliceGroup } from '../../src/endpoints/objects.ts'
import { serviceEndpoints } from '../../src/endpoints/service-endpoints.ts'
import { createApiServer } from '../api-server/api-server.ts'
import { createCluster } from '../cluster.ts'
import { createVirtualTime, seededRandom } from '../testing/virtual-time.ts'

const IMAGES = { 'app:v1': { digest: 'sha256:1', readyAfterMs: 3_000 }, 'app:late': { digest: 'sha256:2', readyAfterMs: 1e9 } }
const app = (image: string) => ({ name: 'app', image, readinessProbe: { periodSeconds: 1, failureThreshold: 1 } })
const labels = { app: 'web' }

/** A pod that is ready, one that is not, and one of each that takes a minute to end. */
function start() {
  const clock = createVirtualTime()
  const random = seededRandom(1)
  const apiServer = createApiServer({ clock, random })
  const { store } = apiServer
  const cluster = createCluster({
    clock,
    random,
    apiServer,
    images: IMAGES,
    nodes: 2,
    behaviour: { delays: { stop: [60_000, 60_000] } },
  })
  const pod = (name: string, image: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', labels },
    spec: { containers: [app(image)], terminationGracePeriodSeconds: 600 },
  })
  for (const publishNotReadyAddresses of [false, true]) {
    const metadata = { name: publishNotReadyAddresses ? 'all' : 'ready', namespace: 'shop' }
    const spec = { selector: labels, publishNotReadyAddresses, ports: [{ port: 80, targetPort: 8080 }] }
    cluster.apply({ apiVersion: 'v1', kind: 'Service', metadata, spec })
  }
  cluster.apply(pod('ready', 'app:v1'), pod('late', 'app:late'), pod('going', 'app:v1'), pod('late-going', 'app:late'))
  clock.advance(20_000)
  for (const name of ['going', 'late-going']) cluster.deletePod('shop', name)
  clock.advance(1_000)
  return { store }
}

function ends(groups: readonly Pick<SliceGroup, 'endpoints'>[]): Record<string, unknown> {
  return Object.fromEntries(
    groups.flatMap(({ endpoints }) =>
      endpoints.map(({ targetRef, addresses, conditions, nodeName }) => [targetRef.name, { addresses, conditions, nodeName }]),
    ),
  )
}

test('the slices of the embedded cluster are those that src/endpoints works out', () => {
  const { store } = start()
  const pods = store.list('pods', 'shop') as unknown as Pod[]
  const nodes = store.list('nodes') as unknown as Node[]
  const slices = store.list('endpointslices.discovery.k8s.io', 'shop') as unknown as (SliceGroup & {
    metadata: { labels: Record<string, string> }
  })[]
  const conditions: unknown[] = []
  for (const service of store.list('services', 'shop') as unknown as Service[]) {
    const own = slices.filter(({ metadata }) => metadata.labels['kubernetes.io/service-name'] === service.metadata.name)
    const expected = ends(serviceEndpoints({ service, pods, nodes }).made!.slices.groups)
    expect(ends(own)).toEqual(expected)
    conditions.push(...Object.values(expected).map((one) => JSON.stringify((one as { conditions: object }).conditions)))
  }
  // Each way that a pod may be in.
  expect(new Set(conditions).size).toBe(7)
})
