import type { Service } from '../../endpoints/objects.ts'
import { pod as podObject, service as serviceObject } from '../../endpoints/testing/objects.ts'
import type { Writer } from '../../reasons/fields.ts'
import { wantedStanding } from '../wanted.ts'
import type { ObservedEvent, SeenAddress, SeenEndpoints, SeenEntry, SeenNode, SeenPod } from '../events.ts'
import { createObserver, type ObserverCounts, type ObserverOptions } from '../observer.ts'
import type { ObserverFindingCode, ObserverFindingOf, Told } from '../told.ts'

export const CONTROLLER: Writer = { manager: 'kube-controller-manager', is: 'controller-manager' }
export const PERSON: Writer = { manager: 'kubectl-edit', is: 'person' }
export const START = 1_000_000

export interface PodState {
  ip?: string
  ready?: boolean
  /** True with `ready: false`: the node controller has set Ready to False. */
  containersReady?: boolean
  node?: string
  uid?: string
  phase?: string
  labels?: Record<string, string>
  restarts?: number
  /** The container of the pod does not run. */
  isStopped?: boolean
  isDrained?: boolean
}

export function seenPod(name: string, state: PodState = {}): SeenPod {
  const { ip = '10.0.0.1', ready = true, node = 'node-1', uid = `uid-of-${name}`, phase = 'Running', labels } = state
  const { containersReady = ready, restarts = 0, isStopped = false, isDrained = false } = state
  const is = (value: boolean): string => (value ? 'True' : 'False')
  const pod: SeenPod = podObject({
    metadata: { name, uid, ...(labels && { labels }) },
    spec: { nodeName: node },
    status: {
      phase,
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [
        { type: 'ContainersReady', status: is(containersReady) },
        { type: 'Ready', status: is(ready) },
      ],
      containerStatuses: [{ name: 'app', ready: containersReady }],
    },
  })
  const [container] = pod.status!.containerStatuses!
  const status = {
    ...pod.status!,
    containerStatuses: [{ ...container!, restartCount: restarts, ...(isStopped && { isStopped }) }],
  }
  return { ...pod, status, ...(isDrained && { isDrained }) }
}

/** Returns one object with the addresses that the controllers make of these pods. */
export function endpointsOf(kind: SeenEndpoints['kind'], service: Service, pods: readonly SeenPod[]): SeenEndpoints {
  const { namespace, name } = service.metadata
  const addresses = pods.flatMap((pod): SeenAddress[] => {
    const wanted = wantedStanding(service, pod, { metadata: { name: pod.spec.nodeName ?? '' } }, rulesOfNow)[kind]
    if (wanted === '') return []
    return wanted.split(',').map((text) => {
      const [address = '', flags = ''] = text.split(' ')
      const own = { address, ready: flags.includes('r'), pod: pod.metadata.uid, podName: pod.metadata.name }
      return kind === 'Endpoints' ? own : { ...own, serving: flags.includes('s'), terminating: flags.includes('t') }
    })
  })
  return {
    kind,
    uid: `${kind}-of-${name}`,
    resourceVersion: '1',
    namespace,
    name: kind === 'Endpoints' ? name : `${name}-abcde`,
    service: name,
    isControllers: true,
    addresses,
    ports: '80',
    by: CONTROLLER,
  }
}

const rulesOfNow = { slicesKnowSidecarPorts: true, canonicalAddresses: true, labelsEndpoints: true }

/** A Service that selects `app: NAME`, with the defaults of the API server. */
export function seenService(name = 'web'): Service {
  return serviceObject({ selector: { app: name } }, { name, uid: `uid-of-service-${name}` })
}

/** A Service without a selector, whose endpoints another program keeps. */
export function selectorless(name = 'web'): Service {
  const { metadata, spec } = seenService(name)
  const { selector: _selector, ...rest } = spec
  return { metadata, spec: rest }
}

/** Endpoints that another program has made of the addresses of pods, with or without a `targetRef`. */
export function copyOf(kind: SeenEndpoints['kind'], pods: readonly SeenPod[], hasReference = false): SeenEndpoints {
  const addresses = endpointsOf(kind, seenService(), pods).addresses.map((one): SeenAddress => {
    const { pod: _pod, podName: _podName, ...bare } = one
    return hasReference ? one : bare
  })
  return {
    ...endpointsOf(kind, seenService('copy'), []),
    isControllers: kind === 'Endpoints',
    name: 'copy',
    by: { manager: 'endpoint-sync', is: 'other' },
    addresses,
  }
}

/** An observer, with methods for the events of one cluster or several. Instants are in milliseconds since the start. */
export function createScene(options: Partial<ObserverOptions> = {}, counts: ObserverCounts = {}) {
  const observer = createObserver(
    {
      clusters: ['east'],
      allNamespaces: true,
      graceMs: 10_000,
      startedAt: START,
      ...options,
    },
    counts,
  )
  const events: ObservedEvent[] = []
  const told: Told[] = []
  let version = 1
  let now = 0
  let cluster = 'east'

  function take(event: ObservedEvent): void {
    events.push(event)
    told.push(...observer.take(event))
  }
  const stamp = () => ({ at: START + now, cluster })
  const scene = {
    observer,
    events,
    told,
    take,
    now: () => now,
    at(ms: number) {
      now = ms
      return scene
    },
    /** Sets the cluster of the next events. */
    in(name: string) {
      cluster = name
      return scene
    },
    after(ms: number) {
      now += ms
      return scene
    },
    pod: (pod: SeenPod) => (take({ ...stamp(), type: 'pod', pod }), scene),
    podGone: (name: string) => (take({ ...stamp(), type: 'pod-gone', uid: `uid-of-${name}` }), scene),
    service: (service: Service) => (take({ ...stamp(), type: 'service', service }), scene),
    serviceGone: (name: string) => (take({ ...stamp(), type: 'service-gone', namespace: 'shop', name }), scene),
    node(name: string, ready = 'True', addresses: string[] = []) {
      const node: SeenNode = { metadata: { name }, ready, addresses }
      take({ ...stamp(), type: 'node', node })
      return scene
    },
    nodeGone: (name: string) => (take({ ...stamp(), type: 'node-gone', name }), scene),
    /** Emits a write. Each write has a new `resourceVersion`. */
    endpoints(endpoints: SeenEndpoints) {
      version += 1
      take({ ...stamp(), type: 'endpoints', endpoints: { ...endpoints, resourceVersion: String(version) } })
      return scene
    },
    synced: () => (take({ ...stamp(), type: 'synced' }), scene),
    entry(loadBalancer: string, entry: Partial<SeenEntry> & { address: string }) {
      take({ at: START + now, type: 'entry', loadBalancer, entry: { id: 'a', port: 80, admin: 'in', ...entry } })
      return scene
    },
    entryGone: (loadBalancer: string, id = 'a') => (take({ at: START + now, type: 'entry-gone', loadBalancer, id }), scene),
    read: (loadBalancer: string) => (take({ at: START + now, type: 'load-balancer-read', loadBalancer }), scene),
    /** Ends the observation at that instant, without an event before it. */
    end(ms: number) {
      now = ms
      take({ at: START + now, type: 'end' })
      return scene
    },
    findings<Code extends ObserverFindingCode>(code: Code): ObserverFindingOf<Code>[] {
      return told.flatMap((one) =>
        one.type === 'finding' && one.finding.code === code ? [one.finding as unknown as ObserverFindingOf<Code>] : [],
      )
    },
    codes: () => told.flatMap((one) => (one.type === 'finding' ? [one.finding.code] : [])),
  }
  return scene
}

/** A Service with one ready pod, and with the EndpointSlice and the Endpoints that the controllers make of them. */
export function healthyScene(options: Partial<ObserverOptions> = {}) {
  const service = seenService()
  const pods = [seenPod('web-0')]
  return createScene(options)
    .at(0)
    .node('node-1')
    .service(service)
    .pod(pods[0]!)
    .endpoints(endpointsOf('EndpointSlice', service, pods))
    .endpoints(endpointsOf('Endpoints', service, pods))
    .synced()
}
