import { hasAddress } from '../../endpoints/addresses.ts'
import type { Pod, Service } from '../../endpoints/objects.ts'
import { isFinished } from '../../endpoints/pod-membership.ts'
import { isReady } from '../../endpoints/readiness.ts'
import { hasSelector, selects } from '../../endpoints/selectors.ts'
import type { StoredEndpoints, StoredNode, StoredPod, StoredSlice } from '../../endpoints/stored.ts'
import { conditionsOf, serviceNameOf } from '../../endpoints/stored-slices.ts'
import type { ClusterView, EndpointsKind, EntryState, PastState } from './cluster-view.ts'
import { createEntryHistory, isSameState } from './entry-history.ts'

/** An object that has changed, or that was deleted. */
export type ClusterChange =
  | { readonly kind: 'Pod'; readonly is: 'put' | 'gone'; readonly object: StoredPod }
  | { readonly kind: 'Node'; readonly is: 'put' | 'gone'; readonly object: StoredNode }
  | { readonly kind: 'Service'; readonly is: 'put' | 'gone'; readonly object: Service }
  | { readonly kind: 'EndpointSlice'; readonly is: 'put' | 'gone'; readonly object: StoredSlice }
  | { readonly kind: 'Endpoints'; readonly is: 'put' | 'gone'; readonly object: StoredEndpoints }

type EndpointsChange = Extract<ClusterChange, { kind: EndpointsKind }>

export interface ServiceName {
  readonly namespace: string
  readonly name: string
}

/** The objects that rules look at, by what decisions ask for. */
export interface ClusterIndex extends ClusterView {
  /**
   * Applies a change that was seen at an instant, in milliseconds since 1970. Returns the Services whose endpoints it may concern. Without the
   * instant, no history is kept.
   */
  apply(change: ClusterChange, at?: number): ServiceName[]
  services(): Iterable<Service>
  nodes(): Iterable<StoredNode>
  /** The pods that the selector of the Service matches. */
  selectedPods(service: Service): StoredPod[]
  /** The EndpointSlices that name the Service, by whichever controller. */
  slicesOf(namespace: string, service: string): readonly StoredSlice[]
  endpointsOf(namespace: string, service: string): StoredEndpoints | undefined
}

interface IndexedService {
  service: Service
  /** The uids of the pods that the selector matches. */
  pods: Set<string>
  /** Of those that have not finished, the number of all and of the ready ones. */
  all: number
  ready: number
}

interface IndexedPod {
  pod: StoredPod
  services: Set<IndexedService>
}

interface Holding {
  readonly service: string | undefined
  readonly object: StoredSlice | StoredEndpoints | undefined
}

interface IndexedNamespace {
  services: Map<string, IndexedService>
  /** Services by one label of their selector, such as `app=web`. A pod with these labels may be selected by these Services alone. */
  bySelector: Map<string, Set<IndexedService>>
  pods: Map<string, IndexedPod>
  slices: Map<string, Map<string, StoredSlice>>
  endpoints: Map<string, StoredEndpoints>
}

/** An index without objects. */
export function createClusterIndex(): ClusterIndex {
  const namespaces = new Map<string, IndexedNamespace>()
  const pods = new Map<string, IndexedPod>()
  const podsByNode = new Map<string, Set<string>>()
  const nodes = new Map<string, StoredNode>()
  /** The Service of each slice, by the name of the slice: its label may change. */
  const sliceServices = new Map<string, string>()
  const history = createEntryHistory((uid) => pods.has(uid))

  function within(namespace: string): IndexedNamespace {
    let found = namespaces.get(namespace)
    if (found === undefined) {
      found = { services: new Map(), bySelector: new Map(), pods: new Map(), slices: new Map(), endpoints: new Map() }
      namespaces.set(namespace, found)
    }
    return found
  }

  function count(of: IndexedService, pod: StoredPod, by: 1 | -1): void {
    if (isFinished(pod)) return
    of.all += by
    if (isCountedReady(pod)) of.ready += by
  }

  function select(of: IndexedService, indexed: IndexedPod): void {
    of.pods.add(indexed.pod.metadata.uid)
    indexed.services.add(of)
    count(of, indexed.pod, 1)
  }

  function deselect(of: IndexedService, indexed: IndexedPod): void {
    of.pods.delete(indexed.pod.metadata.uid)
    indexed.services.delete(of)
    count(of, indexed.pod, -1)
  }

  function removePod(uid: string): IndexedService[] {
    const indexed = pods.get(uid)
    if (indexed === undefined) return []
    const before = [...indexed.services]
    for (const of of before) deselect(of, indexed)
    pods.delete(uid)
    within(indexed.pod.metadata.namespace).pods.delete(uid)
    const { nodeName } = indexed.pod.spec
    if (nodeName !== undefined) drop(podsByNode, nodeName, uid)
    return before
  }

  function putPod(pod: StoredPod, is: 'put' | 'gone'): ServiceName[] {
    const { uid, namespace, labels = {} } = pod.metadata
    const concerned = new Set(removePod(uid))
    if (is === 'put') {
      const own = within(namespace)
      const indexed = { pod, services: new Set<IndexedService>() }
      pods.set(uid, indexed)
      own.pods.set(uid, indexed)
      if (pod.spec.nodeName !== undefined) add(podsByNode, pod.spec.nodeName, uid)
      for (const [name, value] of Object.entries(labels)) {
        for (const of of own.bySelector.get(`${name}=${value}`) ?? []) {
          if (!selects(of.service, pod)) continue
          select(of, indexed)
          concerned.add(of)
        }
      }
    }
    return Array.from(concerned, nameOf)
  }

  function putNode(node: StoredNode, is: 'put' | 'gone'): ServiceName[] {
    const { name } = node.metadata
    const before = nodes.get(name)
    if (is === 'put') nodes.set(name, node)
    else nodes.delete(name)
    // Most writes of a node change the time of a heartbeat alone.
    if (is === 'put' && before !== undefined && contentOf(before) === contentOf(node)) return []
    const concerned = new Set<IndexedService>()
    for (const uid of podsByNode.get(name) ?? []) for (const of of pods.get(uid)!.services) concerned.add(of)
    return Array.from(concerned, nameOf)
  }

  function putService(service: Service, is: 'put' | 'gone'): ServiceName[] {
    const { namespace, name } = service.metadata
    const own = within(namespace)
    const before = own.services.get(name)
    const isSame = before !== undefined && is === 'put' && hasSameSelector(before.service, service)
    if (isSame) before.service = service
    else {
      if (before !== undefined) {
        own.services.delete(name)
        for (const uid of before.pods) deselect(before, pods.get(uid)!)
        drop(own.bySelector, selectorKey(before.service), before)
      }
      if (is === 'put') {
        const of: IndexedService = { service, pods: new Set(), all: 0, ready: 0 }
        own.services.set(name, of)
        if (hasSelector(service)) {
          add(own.bySelector, selectorKey(service), of)
          for (const indexed of own.pods.values()) if (selects(service, indexed.pod)) select(of, indexed)
        }
      }
    }
    return [{ namespace, name }]
  }

  function putSlice(slice: StoredSlice, is: 'put' | 'gone'): ServiceName[] {
    const { namespace, name } = slice.metadata
    const { slices } = within(namespace)
    const key = `${namespace}/${name}`
    const [before, now] = [sliceServices.get(key), is === 'put' ? serviceNameOf(slice) : undefined]
    if (before !== undefined && before !== now) {
      slices.get(before)?.delete(name)
      if (slices.get(before)?.size === 0) slices.delete(before)
      sliceServices.delete(key)
    }
    if (now !== undefined) {
      sliceServices.set(key, now)
      const some = slices.get(now)
      if (some === undefined) slices.set(now, new Map([[name, slice]]))
      else some.set(name, slice)
    }
    return [...new Set([before, now])].flatMap((one) => (one === undefined ? [] : [{ namespace, name: one }]))
  }

  function putEndpoints(endpoints: StoredEndpoints, is: 'put' | 'gone'): ServiceName[] {
    const { namespace, name } = endpoints.metadata
    if (is === 'put') within(namespace).endpoints.set(name, endpoints)
    else within(namespace).endpoints.delete(name)
    return [{ namespace, name }]
  }

  function countOf(service: Service): { all: number; ready: number } {
    const { namespace, name } = service.metadata
    const own = namespaces.get(namespace)
    const of = own?.services.get(name)
    if (of !== undefined && hasSameSelector(of.service, service)) return { all: of.all, ready: of.ready }
    if (own === undefined || !hasSelector(service)) return { all: 0, ready: 0 }
    // A Service that the request has and this process does not know yet.
    const some = Array.from(own.pods.values(), ({ pod }) => pod).filter((pod) => selects(service, pod) && !isFinished(pod))
    return { all: some.length, ready: some.filter(isCountedReady).length }
  }

  /** The stored version of an object, and its Service. */
  function storedOf(kind: EndpointsKind, { metadata: { namespace, name } }: StoredSlice | StoredEndpoints): Holding {
    if (kind === 'Endpoints') return { service: name, object: namespaces.get(namespace)?.endpoints.get(name) }
    const service = sliceServices.get(`${namespace}/${name}`)
    return { service, object: service === undefined ? undefined : namespaces.get(namespace)?.slices.get(service)?.get(name) }
  }

  /**
   * Applies a change of an object, and notes the pods whose state it changes. The states before the first version that this process sees are
   * not known, so that they are not noted.
   */
  function applyNoting(change: EndpointsChange, seenAt: number): ServiceName[] {
    const { kind, object, is } = change
    const { namespace } = object.metadata
    const before = storedOf(kind, object)
    const now = is === 'put' ? object : undefined
    const turned = before.object === undefined ? [] : turnedPods(kind, before.object, now)
    const statesIn = (service: string | undefined): PastState[] =>
      turned.map((uid) => (service === undefined ? undefined : index.previousOf(namespace, service, kind, uid)) ?? 'absent')
    const from = statesIn(before.service)
    const services = apply(change)
    const to = statesIn(before.service)
    // A deleted object does not tell when it was deleted.
    const at = (now && writtenAt(now)) ?? seenAt
    const place = placeOf(namespace, before.service ?? '', kind)
    for (const [order, uid] of turned.entries()) history.note(uid, place, { at, from: from[order]!, to: to[order]! })
    return services
  }

  function apply({ kind, is, object }: ClusterChange): ServiceName[] {
    switch (kind) {
      case 'Pod':
        return putPod(object, is)
      case 'Node':
        return putNode(object, is)
      case 'Service':
        return putService(object, is)
      case 'EndpointSlice':
        return putSlice(object, is)
      case 'Endpoints':
        return putEndpoints(object, is)
    }
  }

  const index: ClusterIndex = {
    apply(change, at) {
      if (change.kind === 'Pod') {
        const { uid } = change.object.metadata
        if (change.is === 'gone') history.forget(uid)
        else history.see(uid)
      }
      const isNoted = at !== undefined && (change.kind === 'EndpointSlice' || change.kind === 'Endpoints')
      return isNoted ? applyNoting(change, at) : apply(change)
    },
    stateBefore: (namespace, service, kind, podUid, since) =>
      history.stateBefore(podUid, placeOf(namespace, service, kind), since),
    pod: (uid) => pods.get(uid)?.pod,
    node: (name) => nodes.get(name),
    service: (namespace, name) => namespaces.get(namespace)?.services.get(name)?.service,
    podsOf: countOf,
    previousOf(namespace, service, kind, podUid) {
      const objects = kind === 'EndpointSlice' ? index.slicesOf(namespace, service) : [index.endpointsOf(namespace, service)]
      let found: EntryState | undefined
      for (const object of objects) {
        const entry = object && entriesOf(kind, object).get(podUid)
        // A pod has an entry in each slice of its address families and ports.
        if (entry !== undefined && (found === undefined || entry.ready)) found = entry
      }
      return found
    },
    *services() {
      for (const { services } of namespaces.values()) for (const { service } of services.values()) yield service
    },
    nodes: () => nodes.values(),
    selectedPods({ metadata: { namespace, name } }) {
      const of = namespaces.get(namespace)?.services.get(name)
      return of === undefined ? [] : Array.from(of.pods, (uid) => pods.get(uid)!.pod)
    },
    slicesOf: (namespace, service) => [...(namespaces.get(namespace)?.slices.get(service)?.values() ?? [])],
    endpointsOf: (namespace, service) => namespaces.get(namespace)?.endpoints.get(service),
  }
  return index
}

function placeOf(namespace: string, service: string, kind: EndpointsKind): string {
  return `${kind}/${namespace}/${service}`
}

/** The pods whose entry in one object is another one in its next version. */
function turnedPods(
  kind: EndpointsKind,
  before: StoredSlice | StoredEndpoints,
  now: StoredSlice | StoredEndpoints | undefined,
): string[] {
  const [were, are] = [entriesOf(kind, before), now === undefined ? new Map<string, EntryState>() : entriesOf(kind, now)]
  return [...new Set([...were.keys(), ...are.keys()])].filter(
    (uid) => !isSameState(were.get(uid) ?? 'absent', are.get(uid) ?? 'absent'),
  )
}

/** The instant of the last write, by the clock of the API server, in milliseconds since 1970. All replicas see the same one. */
function writtenAt({ metadata: { managedFields = [] } }: StoredSlice | StoredEndpoints): number | undefined {
  const times = managedFields.flatMap(({ time }) => (time === undefined ? [] : [Date.parse(time)]))
  return times.length === 0 ? undefined : Math.max(...times)
}

const entriesOfObject = new WeakMap<object, ReadonlyMap<string, EntryState>>()

/** The entries of an object by the uid of the pod. Made at the first question about the object. */
function entriesOf(kind: EndpointsKind, object: StoredSlice | StoredEndpoints): ReadonlyMap<string, EntryState> {
  const known = entriesOfObject.get(object)
  if (known !== undefined) return known
  const made = new Map<string, EntryState>()
  const put = (uid: string | undefined, entry: EntryState): void => {
    if (uid !== undefined && made.get(uid)?.ready !== true) made.set(uid, entry)
  }
  if (kind === 'EndpointSlice') {
    for (const endpoint of (object as StoredSlice).endpoints ?? []) {
      const { ready, serving } = conditionsOf(endpoint)
      put(endpoint.targetRef?.uid, { ready, serving })
    }
  } else {
    for (const { addresses = [], notReadyAddresses = [] } of (object as StoredEndpoints).subsets ?? []) {
      for (const { targetRef } of addresses) put(targetRef?.uid, { ready: true, serving: true })
      for (const { targetRef } of notReadyAddresses) put(targetRef?.uid, { ready: false, serving: false })
    }
  }
  entriesOfObject.set(object, made)
  return made
}

/** The controllers make a ready endpoint of the pod. */
function isCountedReady(pod: Pod): boolean {
  return isReady(pod) && pod.metadata.deletionTimestamp === undefined && hasAddress(pod)
}

function nameOf({ service: { metadata } }: IndexedService): ServiceName {
  return { namespace: metadata.namespace, name: metadata.name }
}

function selectorKey({ spec: { selector = {} } }: Service): string {
  const [[name, value] = []] = Object.entries(selector)
  return `${name}=${value}`
}

function hasSameSelector(one: Service, other: Service): boolean {
  if (one.spec.selector === other.spec.selector && one.spec.type === other.spec.type) return true
  const text = ({ spec: { type, selector = {} } }: Service): string => JSON.stringify([type, Object.entries(selector).toSorted()])
  return text(one) === text(other)
}

function contentOf(node: StoredNode): string {
  return JSON.stringify({ ...node, metadata: { ...node.metadata, resourceVersion: undefined } })
}

function add<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key)
  if (set === undefined) sets.set(key, new Set([value]))
  else set.add(value)
}

function drop<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key)
  set?.delete(value)
  if (set?.size === 0) sets.delete(key)
}
