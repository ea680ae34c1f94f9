import { expect, test } from 'vitest'
import { createApiServer } from './api-server/api-server.ts'
import { type ClusterBehaviour, createCluster } from './cluster.ts'
import type { Pod } from './kubelet/pod.ts'
import { isReady } from './kubelet/pod.ts'
import { createVirtualTime, seededRandom } from './testing/virtual-time.ts'

const IMAGES = { 'app:v1': { digest: 'sha256:1', readyAfterMs: 3_000 }, 'app:v2': { digest: 'sha256:2', readyAfterMs: 3_000 } }

function start(replicas: number, behaviour: ClusterBehaviour = {}, seed = 1) {
  const clock = createVirtualTime()
  const random = seededRandom(seed)
  const apiServer = createApiServer({ clock, random })
  const cluster = createCluster({ clock, random, apiServer, images: IMAGES, nodes: 2, behaviour })
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
  const patchImage = (name: string, image: string): void => {
    const body = JSON.stringify([{ op: 'replace', path: '/spec/containers/0/image', value: image }])
    const headers = { 'content-type': 'application/json-patch+json' }
    apiServer.handle({ method: 'PATCH', path: `/api/v1/namespaces/shop/pods/${name}`, headers, body }, 'test')
  }
  return { clock, apiServer, cluster, store, pods, patchImage }
}

test('does nothing at rest', () => {
  const { clock, pods } = start(10)
  expect(clock.pending()).toBe(0)
  expect(new Set(pods().map(({ status }) => status?.podIP)).size).toBe(10)
  expect(new Set(pods().map(({ spec }) => spec.nodeName)).size).toBe(2)
})

test('an image change tells the generation first, with the old container Ready, then the new container', () => {
  const { clock, store, pods, patchImage } = start(1)
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
  patchImage('web-0', 'app:v2')
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

test('a pull that takes long leaves the pod down for as long, and nothing but its readiness says so', () => {
  const { clock, cluster, patchImage, pods } = start(1)
  const exited: string[] = []
  cluster.onFact((fact) => fact.type === 'containerExited' && exited.push(fact.id))
  cluster.setImage('app:v3', { digest: 'sha256:3', pull: { ms: 20_000 } })
  patchImage('web-0', 'app:v3')
  clock.advance(15_000)
  expect(isReady(pods()[0]!)).toBe(false)
  // The worker that would report the dead container waits for the pull.
  expect(pods()[0]!.status!.containerStatuses![0]!.state.running).toBeDefined()
  expect(exited).toHaveLength(1)
  const isNew = (): boolean => pods()[0]!.status!.containerStatuses![0]!.imageID === 'sha256:3'
  clock.until('the new container', () => isNew() && isReady(pods()[0]!))
})

test('facts tell what serves, in order, whatever the API says', () => {
  const { clock, cluster, patchImage } = start(1)
  const facts: string[] = []
  cluster.onFact((fact) => facts.push(`${fact.type} ${'id' in fact ? fact.id.slice(-1) : ''}`.trim()))
  patchImage('web-0', 'app:v2')
  clock.advance(20_000)
  cluster.killSandbox('shop', 'web-0')
  clock.advance(20_000)
  expect(facts).toEqual([
    'containerStopping 1',
    'containerExited 1',
    'containerStarted 2',
    'containerServing 2',
    'sandboxDied',
    'containerStopping 2',
    'containerExited 2',
    'sandboxStarted',
    'containerStarted 3',
    'containerServing 3',
  ])
})

test('a pod that is deleted by force leaves the API at once, and its container ends behind it', () => {
  const { clock, cluster, store, pods } = start(1)
  const [before] = pods()
  const exited: string[] = []
  cluster.onFact((fact) => fact.type === 'containerExited' && exited.push(fact.uid))
  cluster.deletePod('shop', 'web-0', { force: true })
  expect(store.get('pods', 'shop', 'web-0')).toBeUndefined()
  expect(exited).toEqual([])
  clock.until('its replacement', () => pods().some((pod) => pod.metadata.uid !== before!.metadata.uid && isReady(pod)))
  expect(exited).toEqual([before!.metadata.uid])
})

test('addresses come again at once only where it is asked for', () => {
  for (const reuseAddresses of [true, false]) {
    const { clock, cluster, pods } = start(1, { reuseAddresses })
    const [before] = pods()
    cluster.deletePod('shop', 'web-0')
    clock.until('its replacement', () => pods().some((pod) => pod.metadata.uid !== before!.metadata.uid && isReady(pod)))
    expect(pods()[0]!.status!.podIP === before!.status!.podIP).toBe(reuseAddresses)
  }
})

test('a StatefulSet is scaled, and what it leaves behind goes after it', () => {
  const { clock, apiServer, cluster, store, pods } = start(3)
  cluster.apply({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { replicas: 1 },
  })
  clock.until('one pod', () => pods().length === 1)
  expect(pods()[0]!.metadata.name).toBe('web-0')
  apiServer.handle({ method: 'DELETE', path: '/apis/apps/v1/namespaces/shop/statefulsets/web', headers: {} }, 'test')
  clock.until('no pod', () => pods().length === 0)
  clock.advance(60_000)
  expect(store.list('controllerrevisions.apps', 'shop')).toEqual([])
  expect(clock.pending()).toBe(0)
})

test('a kubelet that was down ends the containers of pods that left the API meanwhile', () => {
  const { clock, cluster, pods } = start(1)
  const [before] = pods()
  const exited: string[] = []
  cluster.onFact((fact) => fact.type === 'containerExited' && exited.push(fact.uid))
  cluster.restartKubelet(before!.spec.nodeName!)
  cluster.deletePod('shop', 'web-0', { force: true })
  clock.advance(30_000)
  expect(exited).toEqual([before!.metadata.uid])
})

test('a container that ends while the kubelet restarts is started again', () => {
  const { clock, cluster, pods } = start(1)
  const [before] = pods()
  const idOf = (pod: Pod): string | undefined => pod.status!.containerStatuses![0]!.containerID
  cluster.restartKubelet(before!.spec.nodeName!)
  cluster.crashContainer('shop', 'web-0', 'app')
  clock.until('another container, ready', () => idOf(pods()[0]!) !== idOf(before!) && isReady(pods()[0]!))
  expect(pods()[0]!.status!.containerStatuses![0]!.restartCount).toBe(1)
})

test('the same seed gives the same history', () => {
  const history = (seed: number): string[] => {
    const { clock, cluster, store, patchImage } = start(3, {}, seed)
    const lines: string[] = []
    store.subscribe((resource, { verb, after, by }) =>
      lines.push(`${clock.now()} ${by} ${verb} ${resource} ${JSON.stringify(after)}`),
    )
    patchImage('web-1', 'app:v2')
    cluster.crashContainer('shop', 'web-0', 'app')
    cluster.deletePod('shop', 'web-2')
    clock.advance(60_000)
    return lines
  }
  expect(history(7)).toEqual(history(7))
  expect(history(7)).not.toEqual(history(8))
})

test('a node that is silent for too long takes Ready from its pods once, and nothing else', () => {
  const { clock, cluster, store, pods } = start(2, { nodeMonitorGracePeriodMs: 6_000 })
  const [{ spec }] = pods() as [Pod]
  const here = (): Pod => pods()[0]!
  const nodeReady = (): unknown => JSON.stringify(store.get('nodes', '', spec.nodeName!)!['status'])
  cluster.stopKubelet(spec.nodeName!)
  clock.advance(5_000)
  expect(isReady(here())).toBe(true)
  clock.advance(3_000)
  expect(isReady(here())).toBe(false)
  expect(here().status!.containerStatuses![0]!.ready).toBe(true)
  expect(nodeReady()).toContain('Unknown')
  cluster.continueKubelet(spec.nodeName!)
  clock.until('Ready again', () => isReady(here()), 12_000)
  expect(pods().map(isReady)).toEqual([true, true])
})
