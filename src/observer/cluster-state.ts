import { type ControllerRules, controllerRules } from '../endpoints/controller-rules.ts'
import type { Service } from '../endpoints/objects.ts'
import { hasSelector, selects } from '../endpoints/selectors.ts'
import type { EndpointObjectKind, SeenAddress, SeenEndpoints, SeenNode, SeenPod } from './events.ts'
import { NO_STANDING, type Standing, standing, wantedStanding } from './wanted.ts'

export interface PodState {
  pod: SeenPod
  /** The Services whose selector matches the pod. */
  readonly services: Set<ServiceState>
}

export interface ServiceState {
  readonly namespace: string
  readonly name: string
  /** Absent where the Service is gone or was not seen yet, and only its objects are known. */
  service?: Service
  /** The label of the selector under which the Service is indexed. */
  key?: string
  /** The standing that each pod of the selector is to have, by the UID of the pod. */
  readonly wanted: Map<string, Standing>
  /** The EndpointSlices and the Endpoints of the Service, by UID. */
  readonly objects: Map<string, ObjectState>
}

export interface ObjectState {
  readonly seen: SeenEndpoints
  /** The addresses with a `targetRef` to a pod, by the UID of the pod. */
  readonly byPod: ReadonlyMap<string, readonly SeenAddress[]>
}

/** A pod of a Service whose wanted or seen addresses may have changed. */
export interface Touched {
  service: ServiceState
  pod: string
}

export interface Replaced {
  touched: Touched[]
  before?: ObjectState
  now?: ObjectState
}

/**
 * The known objects of one cluster. An event visits only the Services of its pod, or the pods of its Service. Each change returns the pods
 * whose wanted or seen addresses have changed by it.
 */
export interface ClusterState {
  readonly pods: ReadonlyMap<string, PodState>
  readonly nodes: ReadonlyMap<string, SeenNode>
  readonly services: ReadonlyMap<string, ServiceState>
  readonly objects: ReadonlyMap<string, ObjectState>
  podsOn(node: string): Iterable<PodState>
  /** The EndpointSlices and Endpoints that have an address with a `targetRef` to the pod. */
  objectsWith(pod: string): Iterable<ObjectState>
  objectsAt(address: string): ReadonlySet<ObjectState>
  /** Returns whether a controller of Kubernetes keeps the object. Another program keeps the objects of a Service without a selector. */
  isControllers(seen: SeenEndpoints): boolean
  putPod(pod: SeenPod): Touched[]
  removePod(uid: string): Touched[]
  putNode(node: SeenNode): Touched[]
  removeNode(name: string): Touched[]
  putService(service: Service): Touched[]
  removeService(namespace: string, name: string): Touched[]
  /** `touched` has the pods whose addresses differ between the two versions of the object. */
  putEndpoints(endpoints: SeenEndpoints): Replaced
  removeEndpoints(uid: string): Replaced
  /** The addresses of the pod as the controllers are to make them. */
  wantedOf(touched: Touched): Standing
  /** The addresses of the pod as the objects of the controllers have them. */
  seenOf(touched: Touched, kind: EndpointObjectKind): string
  setRules(rules: ControllerRules): Touched[]
  /** Where nodes may not be read, the node of each pod is taken to exist. */
  setHasNodes(has: boolean): Touched[]
}

const SEPARATOR = '\0'
const NO_OBJECTS: ReadonlySet<ObjectState> = new Set()

export function createClusterState(): ClusterState {
  const pods = new Map<string, PodState>()
  const nodes = new Map<string, SeenNode>()
  const services = new Map<string, ServiceState>()
  const objects = new Map<string, ObjectState>()
  const objectsByPod = new Map<string, Set<ObjectState>>()
  const objectsByAddress = new Map<string, Set<ObjectState>>()
  const podsByLabel = new Map<string, Set<PodState>>()
  const podsByNode = new Map<string, Set<PodState>>()
  const servicesByLabel = new Map<string, Set<ServiceState>>()
  /** The number of selectors that have a label. */
  const selectorsWith = new Map<string, number>()
  let rules = controllerRules(Infinity)
  let hasNodes = true

  function serviceAt(namespace: string, name: string): ServiceState {
    const key = `${namespace}/${name}`
    const known = services.get(key)
    if (known !== undefined) return known
    const made = { namespace, name, wanted: new Map(), objects: new Map() }
    services.set(key, made)
    return made
  }

  function forget(state: ServiceState): void {
    if (state.service === undefined && state.objects.size === 0) services.delete(`${state.namespace}/${state.name}`)
  }

  function labelKeys(namespace: string, labels: Readonly<Record<string, string>> = {}): string[] {
    return Object.entries(labels).map(([name, value]) => [namespace, name, value].join(SEPARATOR))
  }

  const podKeys = ({ metadata: { namespace, labels } }: SeenPod): string[] => labelKeys(namespace, labels)
  const selectorKeys = ({ metadata: { namespace }, spec: { selector } }: Service): string[] => labelKeys(namespace, selector)

  /** The index uses the label that the fewest selectors have. By a label of all selectors, each pod would visit all Services. */
  function indexService(state: ServiceState, service: Service): void {
    const keys = selectorKeys(service)
    const key = fewest(keys, (one) => selectorsWith.get(one) ?? 0)
    for (const one of keys) selectorsWith.set(one, (selectorsWith.get(one) ?? 0) + 1)
    if (key === undefined) return
    state.key = key
    into(servicesByLabel, key, state)
  }

  function unindexService(state: ServiceState): void {
    for (const one of state.service === undefined ? [] : selectorKeys(state.service)) {
      const left = selectorsWith.get(one)! - 1
      if (left === 0) selectorsWith.delete(one)
      else selectorsWith.set(one, left)
    }
    if (state.key !== undefined) outOf(servicesByLabel, state.key, state)
    delete state.key
  }

  function podsSelectedBy(service: Service): Set<PodState> {
    const key = fewest(selectorKeys(service), (one) => podsByLabel.get(one)?.size ?? 0)
    const candidates = key === undefined ? [] : [...(podsByLabel.get(key) ?? [])]
    return new Set(candidates.filter(({ pod }) => selects(service, pod)))
  }

  /** @returns whether the wanted addresses of the pod have changed */
  function want(state: ServiceState, { pod }: PodState): boolean {
    const { uid } = pod.metadata
    const node = nodes.get(pod.spec.nodeName ?? '')
    const known = hasNodes ? node : { metadata: { name: pod.spec.nodeName ?? '' } }
    const now = wantedStanding(state.service!, pod, known, rules)
    const before = state.wanted.get(uid) ?? NO_STANDING
    state.wanted.set(uid, now)
    return now.EndpointSlice !== before.EndpointSlice || now.Endpoints !== before.Endpoints
  }

  function unlink(state: ServiceState, one: PodState): Touched {
    state.wanted.delete(one.pod.metadata.uid)
    one.services.delete(state)
    return { service: state, pod: one.pod.metadata.uid }
  }

  function index(one: PodState): void {
    for (const key of podKeys(one.pod)) into(podsByLabel, key, one)
    into(podsByNode, one.pod.spec.nodeName ?? '', one)
  }

  function unindex(one: PodState): void {
    for (const key of podKeys(one.pod)) outOf(podsByLabel, key, one)
    outOf(podsByNode, one.pod.spec.nodeName ?? '', one)
  }

  function wantAgain(some: Iterable<PodState>): Touched[] {
    return [...some].flatMap((one) =>
      [...one.services].flatMap((service) => (want(service, one) ? [{ service, pod: one.pod.metadata.uid }] : [])),
    )
  }

  function place(seen: SeenEndpoints | undefined, uid: string): Replaced {
    const before = objects.get(uid)
    const now = seen === undefined ? undefined : { seen, byPod: byPodOf(seen) }
    if (before !== undefined) {
      objects.delete(uid)
      const state = serviceAt(before.seen.namespace, before.seen.service)
      state.objects.delete(uid)
      for (const pod of before.byPod.keys()) outOf(objectsByPod, pod, before)
      for (const { address } of before.seen.addresses) outOf(objectsByAddress, address, before)
      forget(state)
    }
    if (now !== undefined) {
      objects.set(uid, now)
      const state = serviceAt(now.seen.namespace, now.seen.service)
      state.objects.set(uid, now)
      for (const pod of now.byPod.keys()) into(objectsByPod, pod, now)
      for (const { address } of now.seen.addresses) into(objectsByAddress, address, now)
    }
    return { touched: differing(before, now), ...(before && { before }), ...(now && { now }) }
  }

  function differing(before: ObjectState | undefined, now: ObjectState | undefined): Touched[] {
    const one = now ?? before
    if (one === undefined) return []
    const service = serviceAt(one.seen.namespace, one.seen.service)
    const uids = new Set([...(before?.byPod.keys() ?? []), ...(now?.byPod.keys() ?? [])])
    const touched = [...uids].flatMap((pod) => {
      const isSame = standing(before?.byPod.get(pod) ?? []) === standing(now?.byPod.get(pod) ?? [])
      return isSame ? [] : [{ service, pod }]
    })
    forget(service)
    return touched
  }

  return {
    pods,
    nodes,
    services,
    objects,
    podsOn: (node) => podsByNode.get(node) ?? [],
    objectsWith: (pod) => objectsByPod.get(pod) ?? [],
    objectsAt: (address) => objectsByAddress.get(address) ?? NO_OBJECTS,
    isControllers({ kind, namespace, service, isControllers }) {
      const owner = services.get(`${namespace}/${service}`)?.service
      // The Service is unknown. EndpointSlices name their controller in a label; Endpoints do not.
      return isControllers && (owner === undefined ? kind === 'EndpointSlice' : hasSelector(owner))
    },
    putPod(pod) {
      const { uid } = pod.metadata
      const one = pods.get(uid) ?? { pod, services: new Set<ServiceState>() }
      if (pods.has(uid)) unindex(one)
      one.pod = pod
      pods.set(uid, one)
      index(one)
      const found = podKeys(pod).flatMap((key) => [...(servicesByLabel.get(key) ?? [])])
      const selecting = new Set(found.filter(({ service }) => service !== undefined && selects(service, pod)))
      const left = [...one.services].filter((state) => !selecting.has(state)).map((state) => unlink(state, one))
      for (const state of selecting) one.services.add(state)
      return [...left, ...wantAgain([one])]
    },
    removePod(uid) {
      const one = pods.get(uid)
      if (one === undefined) return []
      unindex(one)
      pods.delete(uid)
      return [...one.services].map((state) => unlink(state, one))
    },
    putNode(node) {
      const { name } = node.metadata
      const isNew = !nodes.has(name)
      nodes.set(name, node)
      return isNew ? wantAgain(podsByNode.get(name) ?? []) : []
    },
    removeNode(name) {
      nodes.delete(name)
      return wantAgain(podsByNode.get(name) ?? [])
    },
    putService(service) {
      const { namespace, name } = service.metadata
      const state = serviceAt(namespace, name)
      unindexService(state)
      state.service = service
      indexService(state, service)
      const selected = podsSelectedBy(service)
      const left = [...state.wanted.keys()].flatMap((uid) => {
        const one = pods.get(uid)!
        return selected.has(one) ? [] : [unlink(state, one)]
      })
      const touched = [...selected].flatMap((one) => {
        one.services.add(state)
        return want(state, one) ? [{ service: state, pod: one.pod.metadata.uid }] : []
      })
      return [...left, ...touched]
    },
    removeService(namespace, name) {
      const state = services.get(`${namespace}/${name}`)
      if (state?.service === undefined) return []
      unindexService(state)
      const touched = [...state.wanted.keys()].map((uid) => unlink(state, pods.get(uid)!))
      delete state.service
      forget(state)
      return touched
    },
    putEndpoints: (endpoints) => place(endpoints, endpoints.uid),
    removeEndpoints: (uid) => place(undefined, uid),
    wantedOf: ({ service, pod }) => service.wanted.get(pod) ?? NO_STANDING,
    seenOf({ service, pod }, kind) {
      const own = [...(objectsByPod.get(pod) ?? [])].filter(
        ({ seen }) =>
          seen.kind === kind && seen.isControllers && seen.service === service.name && seen.namespace === service.namespace,
      )
      return standing(own.flatMap(({ byPod }) => byPod.get(pod) ?? []))
    },
    setRules(given) {
      rules = given
      return wantAgain(pods.values())
    },
    setHasNodes(has) {
      hasNodes = has
      return wantAgain(pods.values())
    },
  }
}

function byPodOf({ addresses }: SeenEndpoints): Map<string, SeenAddress[]> {
  const byPod = new Map<string, SeenAddress[]>()
  for (const address of addresses) {
    if (address.pod === undefined) continue
    const own = byPod.get(address.pod)
    if (own === undefined) byPod.set(address.pod, [address])
    else own.push(address)
  }
  return byPod
}

function fewest(keys: readonly string[], countOf: (key: string) => number): string | undefined {
  return keys.toSorted((a, b) => countOf(a) - countOf(b)).at(0)
}

function into<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): void {
  const own = sets.get(key)
  if (own === undefined) sets.set(key, new Set([value]))
  else own.add(value)
}

function outOf<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): void {
  const own = sets.get(key)
  own?.delete(value)
  if (own?.size === 0) sets.delete(key)
}
