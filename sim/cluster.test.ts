import { expect, test } from 'vitest'
import { createApiServer } from './api-server/api-server.ts'
import { createCluster } from './cluster.ts'
import type { Pod } from './kubelet/pod.ts'
import { isReady } from './kubelet/pod.ts'
import { createVirtualTime, seededRandom } from './testing/virtual-time.ts'

const IMAGES = { 'app:v1': { digest: 'sha256:1', readyAfterMs: 3_000 }, 'app:v2': { digest: 'sha256:2', readyAfterMs: 3_000 } }

function start(replicas: number, seed = 1) {
  const clock = createVirtualTime()
  const random = seededRandom(seed)
  const apiServer = createApiServer({ clock, random })
  const cluster = createCluster({ clock, random, apiServer, images: IMAGES, nodes: 2 })
  const { store } = apiServer
  cluster.apply({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      replicas,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'app', image: 'app:v1', readinessProbe: { periodSeconds: 1, failureThreshold: 1 } }] },
      },
    },
  })
  const pods = (): Pod[] => store.list('pods', 'shop') as Pod[]
  clock.until('ready pods', () => pods().length === replicas && pods().every(isReady))
  clock.advance(5_000)
  return { clock, apiServer, cluster, store, pods }
}

test('does nothing at rest', () => {
  const { clock, pods } = start(10)
  expect(clock.pending()).toBe(0)
  expect(new Set(pods().map(({ status }) => status?.podIP)).size).toBe(10)
  expect(new Set(pods().map(({ spec }) => spec.nodeName)).size).toBe(2)
})

test('an image change tells the generation first, with the old container Ready, then the new container', () => {
  const { clock, apiServer, store, pods } = start(1)
  const [before] = pods()
  const seen: string[] = []
  store.subscribe((resource, { after }) => {
    if (resource !== 'pods' || after === undefined) return
    const { metadata, spec, status } = after as Pod
    const [one] = status!.containerStatuses!
    const isNew = one!.containerID !== before!.status!.containerStatuses![0]!.containerID
    seen.push(
      `${spec.containers[0]!.image} ${metadata.generation}/${status!.observedGeneration} ${isNew ? 'new' : 'old'} ${one!.imageID} ${isReady(after as Pod)}`,
    )
  })
  const body = JSON.stringify([{ op: 'replace', path: '/spec/containers/0/image', value: 'app:v2' }])
  const headers = { 'content-type': 'application/json-patch+json' }
  apiServer.handle({ method: 'PATCH', path: '/api/v1/namespaces/shop/pods/web-0', headers, body }, 'test')
  clock.advance(30_000)
  const toldNotReady = 'app:v2 2/2 old sha256:1 false'
  expect(seen.filter((one) => one !== toldNotReady)).toEqual([
    'app:v2 2/1 old sha256:1 true',
    'app:v2 2/2 old sha256:1 true',
    'app:v2 2/2 new sha256:2 false',
    'app:v2 2/2 new sha256:2 true',
  ])
  expect(clock.pending()).toBe(0)
})

test('a StatefulSet makes a deleted pod anew, with another UID and address', () => {
  const { clock, cluster, store, pods } = start(2)
  const [before, other] = pods()
  cluster.deletePod('shop', 'web-0')
  const isAnew = (): boolean => {
    const pod = store.get('pods', 'shop', 'web-0') as Pod | undefined
    return pod !== undefined && pod.metadata.uid !== before!.metadata.uid && isReady(pod)
  }
  clock.until('another web-0', isAnew)
  expect(pods()[0]!.status!.podIP).not.toBe(before!.status!.podIP)
  expect(pods()[1]).toBe(other)
})
