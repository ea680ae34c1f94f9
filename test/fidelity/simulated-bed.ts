import { createApiServer } from '../../sim/api-server/api-server.ts'
import { type ClusterBehaviour, createCluster } from '../../sim/cluster.ts'
import { createVirtualTime, seededRandom } from '../../sim/testing/virtual-time.ts'
import type { KubeObject } from '../cluster/kube-api.ts'
import { pathOf } from '../cluster/kube-api.ts'
import type { Bed, Scenario } from './bed.ts'
import { type Trace, createTraceRecorder } from './trace.ts'

const RESOURCES: Record<string, string> = {
  Pod: 'pods',
  StatefulSet: 'statefulsets.apps',
  DaemonSet: 'daemonsets.apps',
  Deployment: 'deployments.apps',
  EndpointSlice: 'endpointslices.discovery.k8s.io',
  ControllerRevision: 'controllerrevisions.apps',
}

/** The images of test/cluster/images.ts. */
const IMAGES = {
  'localhost/app:v1': { digest: 'sha256:v1' },
  'localhost/app:v2': { digest: 'sha256:v2' },
  'localhost/app:v2-again': { digest: 'sha256:v2' },
  'localhost/app:v3': { digest: 'sha256:v3' },
  'localhost/app:crash': { digest: 'sha256:crash', crashAfterMs: 8 },
  'localhost/sidecar:v1': { digest: 'sha256:sidecar-v1' },
  'localhost/sidecar:v2': { digest: 'sha256:sidecar-v2' },
}

/** Plays a scenario on the embedded cluster, on a virtual clock. */
export async function playSimulated(scenario: Scenario, seed: number, behaviour: ClusterBehaviour = {}): Promise<Trace> {
  const clock = createVirtualTime()
  const random = seededRandom(seed)
  const apiServer = createApiServer({ clock, random })
  const { store } = apiServer
  const recorder = createTraceRecorder({ observesGenerations: true })
  const namespace = scenario.name
  store.subscribe((resource, { verb, before, after }) => {
    const type = ({ create: 'ADDED', update: 'MODIFIED', delete: 'DELETED' } as const)[verb]
    if (resource === 'pods') recorder.pod(type, after ?? before)
    else if (resource === RESOURCES['EndpointSlice']) recorder.endpointSlice(after)
    else if (resource === RESOURCES['StatefulSet'] || resource === RESOURCES['DaemonSet']) {
      if (after !== undefined) recorder.workload(after)
    } else if (resource === 'nodes' && scenario.alone) recorder.node(after)
  })
  // As the shared cluster of the tests is started.
  const cluster = createCluster({
    clock,
    random,
    apiServer,
    images: IMAGES,
    behaviour: { nodeMonitorGracePeriodMs: 6_000, ...behaviour },
  })
  const node = cluster.nodes[0]!
  const lookUp = (kind: string, name: string): KubeObject => store.get(RESOURCES[kind]!, namespace, name)

  /** Nobody acts at once on what was seen: a request takes a while, and a kill by hand more. */
  const act = (longestMs: number): void => clock.advance(1 + random.next() * longestMs)

  const bed: Bed = {
    namespace,
    async apply(...objects) {
      cluster.apply(...objects)
    },
    async patch(kind, name, operations, subresource) {
      act(15)
      const path = pathOf(kind, namespace, name) + (subresource === undefined ? '' : `/${subresource}`)
      const headers = { 'content-type': 'application/json-patch+json' }
      const { status, text } = apiServer.handle({ method: 'PATCH', path, headers, body: JSON.stringify(operations) }, 'scenario')
      if (status >= 300) throw new Error(`${path}: ${text}`)
      return JSON.parse(text)
    },
    get: async (kind, name) => lookUp(kind, name),
    list: async (kind) => store.list(RESOURCES[kind]!, namespace),
    async remove(kind, name, { force } = {}) {
      act(15)
      const path = pathOf(kind, namespace, name) + (force ? '?gracePeriodSeconds=0' : '')
      apiServer.handle({ method: 'DELETE', path, headers: {} }, 'scenario')
    },
    async crash(pod, container) {
      act(100)
      cluster.crashContainer(namespace, pod, container)
      act(60)
    },
    async killSandbox(pod) {
      act(100)
      cluster.killSandbox(namespace, pod)
    },
    kubelet: {
      pause: async () => cluster.stopKubelet(node),
      resume: async () => cluster.continueKubelet(node),
      restart: async () => cluster.restartKubelet(node),
    },
    async nodeIsReady() {
      const { status } = store.get('nodes', '', node) as KubeObject
      return status.conditions.some((one: KubeObject) => one.type === 'Ready' && one.status === 'True')
    },
    async until(kind, name, condition) {
      clock.until(`${scenario.name}: ${kind} ${name}: ${condition}`, () => condition(lookUp(kind, name)))
    },
    async pass(ms) {
      clock.advance(ms)
    },
    async begin() {
      recorder.begin()
    },
  }
  await scenario.play(bed)
  return recorder.trace()
}
