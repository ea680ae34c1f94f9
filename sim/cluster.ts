import type { Clock } from '../src/ports/clock.ts'
import type { Random } from '../src/ports/random.ts'
import { createAddresses } from './addresses.ts'
import type { ApiServer, KubeObject, NewObject } from './api-server/server.ts'
import type { Controller, ControllerPorts } from './controllers/controller.ts'
import { createDaemonSetController } from './controllers/daemon-set.ts'
import { createDeploymentController } from './controllers/deployment.ts'
import { createEndpointsController } from './controllers/endpoints.ts'
import { createEndpointSliceController } from './controllers/endpoint-slices.ts'
import { createGarbageCollector } from './controllers/garbage.ts'
import { createNodeLifecycle } from './controllers/node-lifecycle.ts'
import { createReplicaSetController } from './controllers/replica-set.ts'
import { createScheduler } from './controllers/scheduler.ts'
import { createStatefulSetController } from './controllers/stateful-set.ts'
import type { NodeFact } from './facts.ts'
import type { Behaviour } from './kubelet/behaviour.ts'
import type { ContainerHost } from './kubelet/container-host.ts'
import { type Delays, type Range, measuredDelays } from './kubelet/delays.ts'
import { type ImageBehaviour, createImages } from './kubelet/images.ts'
import { createInstants } from './kubelet/instants.ts'
import { type Kubelet, startKubelet } from './kubelet/kubelet.ts'
import type { Pod } from './kubelet/pod.ts'
import { type Runtime, createRuntime } from './kubelet/runtime.ts'
import { createSimulatedHost } from './kubelet/simulated-host.ts'

export interface ClusterOptions {
  clock: Clock
  random: Random
  apiServer: ApiServer
  /** The number of nodes. Their names are `node-0`, `node-1` and so on. */
  nodes?: number
  /** The images by their references. Any other image cannot be pulled. */
  images: Record<string, ImageBehaviour>
  /** The host that runs the containers; simulated unless given. `images` still lists the images and how they are pulled. */
  host?: ContainerHost
  behaviour?: ClusterBehaviour
  /** Controllers of custom resources, beside the controllers of Kubernetes. */
  controllers?: readonly ((ports: ControllerPorts) => Controller)[]
}

export interface ClusterBehaviour {
  /** Kubelets with a wrong behaviour, for negative controls. */
  kubelet?: Behaviour
  /** Delays in place of the measured ones. */
  delays?: Partial<Delays>
  /** The delay from the status of a pod to its endpoint, in milliseconds; 1 to 8 unless given, seconds where the controller lags. */
  endpointLag?: Range
  /** The most writes of Endpoints in a second. Without it there is no controller of Endpoints. The API server has to serve Endpoints. */
  endpointsPerSecond?: number
  /** The silence of a node after which its pods are not Ready. Default 50 s, as in Kubernetes. */
  nodeMonitorGracePeriodMs?: number
  /** A new pod gets the address that another pod has just left. This is rare in real clusters. */
  reuseAddresses?: boolean
}

/** Nodes with their kubelets, and the controllers, around an API server. The cluster does nothing while nothing changes. */
export interface SimulatedCluster {
  readonly nodes: readonly string[]
  /** Creates each object, or changes it by a merge patch. Missing namespaces are created. */
  apply(...objects: Manifest[]): void
  /** Deletes a pod as a client does. With `force` the pod leaves the API at once, and its containers end later. */
  deletePod(namespace: string, name: string, options?: { force?: boolean }): void
  /** Evicts a pod as a drain of the node does. It works as a deletion, since there are no budgets. */
  evict(namespace: string, name: string): void
  /** Ends the process of the container with an exit code. Throws where the container does not run. */
  crashContainer(namespace: string, pod: string, container: string, code?: number): void
  /** Kills the sandbox of the pod: the same UID gets new containers and a new address. */
  killSandbox(namespace: string, pod: string): void
  /** Makes the container fail its readiness probe for `ms` milliseconds. The container is otherwise unaffected. */
  unready(namespace: string, pod: string, container: string, ms: number): void
  /** Stops the process of the kubelet: the node is silent, and its containers run on. */
  stopKubelet(node: string): void
  continueKubelet(node: string): void
  restartKubelet(node: string): void
  /** Reports whether the kubelet reports to the API server. */
  isAlive(node: string): boolean
  /** Sets the grace period for later silences of nodes. */
  setNodeMonitorGracePeriod(ms: number): void
  /** Makes the controller of Endpoints look at each Service again. Throws where there is no such controller. */
  resyncEndpoints(): void
  setImage(reference: string, behaviour: ImageBehaviour): void
  onFact(listener: (fact: NodeFact) => void): () => void
}

export type Manifest = Omit<KubeObject, 'metadata'> & { metadata: { name: string; namespace?: string; [field: string]: unknown } }

const ADMIN = 'admin'

export function createCluster(options: ClusterOptions): SimulatedCluster {
  const { clock, random, apiServer, behaviour = {} } = options
  const { store } = apiServer
  const ports = { clock, random, store, apiServer }
  const instant = createInstants(clock)
  const images = createImages(options.images)
  const delays = { ...measuredDelays, ...behaviour.delays }
  const host = options.host ?? createSimulatedHost({ clock, random, delays, images })
  const listeners = new Set<(fact: NodeFact) => void>()
  const nodes = Array.from({ length: options.nodes ?? 1 }, (_, index) => `node-${index}`)
  const kubelets = new Map<string, Kubelet & { runtime: Runtime }>()
  let ids = 0

  let gracePeriodMs = behaviour.nodeMonitorGracePeriodMs ?? 50_000
  const lifecycle = createNodeLifecycle({ ...ports, instant, gracePeriodMs: () => gracePeriodMs })
  const { endpointsPerSecond } = behaviour
  const endpoints = endpointsPerSecond === undefined ? undefined : createEndpointsController(ports, endpointsPerSecond)
  const controllers: Controller[] = [
    createScheduler(ports),
    createStatefulSetController(ports),
    createDaemonSetController(ports),
    createReplicaSetController(ports),
    createDeploymentController(ports),
    createEndpointSliceController(ports, behaviour.endpointLag ?? [1, 8]),
    ...(endpoints === undefined ? [] : [endpoints]),
    createGarbageCollector(ports),
    ...(options.controllers ?? []).map((create) => create(ports)),
  ]

  store.subscribe((resource, write) => {
    for (const controller of controllers) controller.onWrite(resource, write)
    if (resource !== 'pods') return
    const pod = (write.after ?? write.before) as Pod
    if (pod.spec.nodeName !== undefined) kubelets.get(pod.spec.nodeName)?.onWrite(write)
  })

  for (const [index, nodeName] of nodes.entries()) {
    const nodeAddress = `192.168.${index >> 8}.${(index & 255) + 1}`
    const addresses = host.addresses ?? createAddresses(`10.${100 + index}`, behaviour.reuseAddresses ?? false)
    kubelets.set(
      nodeName,
      startKubelet({
        nodeName,
        nodeAddress,
        clock,
        random,
        store,
        images,
        delays,
        instant,
        behaviour: behaviour.kubelet ?? {},
        startRuntime: ({ onChange, onAnswer }) =>
          createRuntime({
            clock,
            random,
            delays,
            images,
            host,
            instant,
            nodeAddress,
            newAddress: addresses.take,
            freeAddress: addresses.free,
            newId: () => `containerd://${(++ids).toString(16).padStart(12, '0')}`,
            onFact: (fact) => {
              for (const listener of listeners) listener(fact)
            },
            onChange,
            onAnswer,
          }),
        onAlive: (isAlive) => lifecycle.onAlive(nodeName, isAlive),
      }),
    )
    store.create('nodes', node(nodeName, nodeAddress, instant()), 'kubelet')
  }

  function apply(object: Manifest): void {
    const found = apiServer.kinds.find(({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind)
    if (found === undefined) throw new Error(`sim: there is no kind ${object.apiVersion} ${object.kind}`)
    const { resource, namespaced, plural, apiVersion } = found
    const { name } = object.metadata
    const namespace = namespaced ? (object.metadata.namespace ?? 'default') : ''
    if (namespaced && store.get('namespaces', '', namespace) === undefined) {
      store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, ADMIN)
    }
    const exists = store.get(resource, namespace, name) !== undefined
    const base = `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}`
    const answer = apiServer.handle(
      {
        method: exists ? 'PATCH' : 'POST',
        path: exists ? `${base}/${name}` : base,
        headers: { 'content-type': exists ? 'application/merge-patch+json' : 'application/json' },
        body: JSON.stringify(object),
      },
      ADMIN,
    )
    if (answer.status >= 300) throw new Error(`sim: ${object.kind} ${name} was not taken: ${answer.text}`)
  }

  function podOf(namespace: string, name: string): Pod {
    const pod = store.get('pods', namespace, name) as Pod | undefined
    if (pod === undefined) throw new Error(`sim: there is no pod ${namespace}/${name}`)
    return pod
  }

  function runtimeOf(pod: Pod): Runtime {
    const kubelet = kubelets.get(pod.spec.nodeName ?? '')
    if (kubelet === undefined) throw new Error(`sim: pod ${pod.metadata.name} is on no node`)
    return kubelet.runtime
  }

  function kubeletOf(name: string): Kubelet {
    const kubelet = kubelets.get(name)
    if (kubelet === undefined) throw new Error(`sim: there is no node ${name}; there are ${nodes.join(', ')}`)
    return kubelet
  }

  function remove(namespace: string, name: string, query: string): void {
    apiServer.handle({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/pods/${name}${query}`, headers: {} }, ADMIN)
  }

  return {
    nodes,
    apply: (...objects) => objects.forEach(apply),
    deletePod: (namespace, name, { force = false } = {}) => remove(namespace, name, force ? '?gracePeriodSeconds=0' : ''),
    evict: (namespace, name) => remove(namespace, name, ''),
    crashContainer(namespace, name, container, code = 137) {
      const pod = podOf(namespace, name)
      if (!runtimeOf(pod).crash(pod.metadata.uid, container, code)) {
        throw new Error(`sim: container ${container} of pod ${name} does not run`)
      }
    },
    killSandbox(namespace, name) {
      const pod = podOf(namespace, name)
      runtimeOf(pod).killSandbox(pod.metadata.uid)
    },
    unready(namespace, name, container, ms) {
      const pod = podOf(namespace, name)
      runtimeOf(pod).unready(pod.metadata.uid, container, ms)
    },
    stopKubelet: (name) => kubeletOf(name).pause(),
    continueKubelet: (name) => kubeletOf(name).resume(),
    restartKubelet: (name) => kubeletOf(name).restart(),
    isAlive: (name) => kubeletOf(name).isAlive,
    setNodeMonitorGracePeriod(ms) {
      gracePeriodMs = ms
    },
    resyncEndpoints() {
      if (endpoints === undefined) throw new Error('sim: there is no controller of Endpoints')
      endpoints.resync()
    },
    setImage: images.set,
    onFact(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

const SIZE = { cpu: '8', memory: '32Gi', pods: '250' }

function node(name: string, address: string, now: string): NewObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    spec: {},
    status: {
      capacity: SIZE,
      allocatable: SIZE,
      nodeInfo: { kubeletVersion: 'v1.35.4' },
      addresses: [{ type: 'InternalIP', address }],
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: now, lastTransitionTime: now }],
    },
  }
}
