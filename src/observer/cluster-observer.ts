import { controllerRules } from '../endpoints/controller-rules.ts'
import type { Service } from '../endpoints/objects.ts'
import { isFinished } from '../endpoints/pod-membership.ts'
import { isReady, notReadyBecause, readyOf } from '../endpoints/readiness.ts'
import { hasSelector } from '../endpoints/selectors.ts'
import { createBacklog } from './backlog.ts'
import {
  type ClusterState,
  createClusterState,
  type ObjectState,
  type Replaced,
  type ServiceState,
  type Touched,
} from './cluster-state.ts'
import type { Context } from './context.ts'
import { createControllerManager } from './controller-manager.ts'
import type { AddressChanges } from './address-changes.ts'
import type { Copies } from './copies.ts'
import type { Entries } from './entries.ts'
import {
  type ClusterEvent,
  ENDPOINT_OBJECT_KINDS as KINDS,
  type EndpointObjectKind,
  type ReadKind,
  type SeenAddress,
  type SeenEndpoints,
  type SeenNode,
  type SeenPod,
} from './events.ts'
import { createFlaps } from './flaps.ts'
import type { Holders } from './holders.ts'
import { createLabelChanges } from './label-changes.ts'
import { createRestarts, type RestartedService } from './restarts.ts'
import { LAGS_KEPT_MS } from './limits.ts'
import { createSilentNodes } from './silent-nodes.ts'
import { createStaleAddresses } from './stale-addresses.ts'
import { createSweeps } from './sweeps.ts'
import type { EndpointChange, Leg, ObserverSnapshot, PodChange } from './told.ts'
import { standing } from './wanted.ts'
import { createWriterHistory } from './writers.ts'

export interface ClusterObserver {
  take(event: ClusterEvent): void
  /** Returns whether all pods and nodes of the cluster are known. */
  seesAll(): boolean
  /** Looks at the address again, since a pod or node of any cluster has got or lost it. */
  reviewAt(address: string): void
  readonly state: ClusterState
  is(): ObserverSnapshot['clusters'][number]['is']
  backlogs(): ObserverSnapshot['backlogs']
  end(): void
}

/** The state that the observers of all clusters share. */
interface Shared {
  holders: Holders
  changes: AddressChanges
  entries: Entries
  copies: Copies
}

/** A pod of a Service whose addresses in the endpoints are not yet as they are to be. */
interface Waiting {
  since: number
  /** The side that has changed first. `start` stands for a difference without a known beginning, which has no lag. */
  by: 'pod' | 'endpoints' | 'start'
}

const READ_AS = { EndpointSlice: 'endpointslices', Endpoints: 'endpoints' } as const
const LEGS: Readonly<Record<EndpointObjectKind, Leg>> = { EndpointSlice: 'pod-endpointslice', Endpoints: 'pod-endpoints' }

export function createClusterObserver(cluster: string, context: Context, shared: Shared): ClusterObserver {
  const { holders, changes, entries, copies } = shared
  const state = createClusterState()
  const stale = createStaleAddresses(context, cluster, state, holders, () => isSynced && isReachable && !unread.has('pods'))
  const flaps = createFlaps(context, cluster)
  const restarts = createRestarts(context, cluster)
  const silentNodes = createSilentNodes(context, cluster)
  const writers = createWriterHistory(context, cluster)
  const ofKind = <Value>(make: (kind: EndpointObjectKind) => Value): Readonly<Record<EndpointObjectKind, Value>> => ({
    EndpointSlice: make('EndpointSlice'),
    Endpoints: make('Endpoints'),
  })
  const sweeps = ofKind((kind) => createSweeps(context, cluster, kind))
  const labels = createLabelChanges()
  const manager = createControllerManager(context)
  const backlogs = ofKind((kind) => createBacklog(context, cluster, kind, manager, () => isKnown(kind)))
  const waiting = ofKind(() => new Map<string, Waiting>())
  const unread = new Set<ReadKind>()
  const truncated = new Set<string>()
  const toldByHand = new Map<string, string>()
  let isSynced = false
  let isReachable = true

  function settleAll(touched: readonly Touched[], by: Waiting['by']): void {
    if (!isSynced) return
    for (const one of touched) for (const kind of KINDS) settle(one, kind, by)
  }

  /** Returns whether the cluster answers, and its pods, its Services and the objects of this kind can be read. */
  function isKnown(kind: EndpointObjectKind): boolean {
    return isReachable && !unread.has('pods') && !unread.has('services') && !unread.has(READ_AS[kind])
  }

  /** While a kind cannot be read, the instants of its changes are unknown: pods that wait for it get no lag. */
  function forgetInstants(): void {
    for (const kind of KINDS) {
      if (isKnown(kind)) continue
      backlogs[kind].forget()
      for (const one of waiting[kind].values()) one.by = 'start'
    }
  }

  /** @returns the lag in milliseconds, where the endpoints have followed just now */
  function settle(touched: Touched, kind: EndpointObjectKind, cause: Waiting['by']): number | undefined {
    const by = isKnown(kind) ? cause : 'start'
    const { service, pod } = touched
    const key = `${service.namespace}/${service.name}`
    const own = `${key}/${pod}`
    const known = waiting[kind].get(own)
    if (isFollowing(service, kind) && state.wantedOf(touched)[kind] !== state.seenOf(touched, kind)) {
      if (known === undefined || (known.by === 'endpoints' && by === 'pod')) {
        waiting[kind].set(own, { since: context.now(), by })
        if (by === 'pod') backlogs[kind].waits(key)
      }
      return undefined
    }
    if (known === undefined) return undefined
    waiting[kind].delete(own)
    // Watches are not in step: endpoints may be seen to change before their pod, which is a lag of 0. A pod that goes back has none.
    const lagMs =
      known.by === 'start' || (known.by === 'pod' && by === 'pod') ? undefined : by === 'pod' ? 0 : context.now() - known.since
    if (known.by === 'pod') backlogs[kind].followed(key, lagMs)
    if (lagMs === undefined || (known.by === 'endpoints' && by !== 'pod')) return undefined
    context.measured({ cluster, namespace: service.namespace, service: service.name, leg: LEGS[kind] }, lagMs)
    return lagMs
  }

  /** Returns whether the controller keeps objects of this kind for the Service, and all pods of the Service have room in them. */
  function isFollowing(owner: ServiceState, kind: EndpointObjectKind): boolean {
    if (owner.service === undefined || !hasSelector(owner.service)) return false
    if (unread.has(READ_AS[kind])) return false
    if (kind === 'EndpointSlice') return true
    // A cluster without the controller of Endpoints has no such objects.
    const own = [...owner.objects.values()].filter(({ seen }) => seen.kind === kind)
    return own.length > 0 && !own.some(({ seen }) => seen.isTruncated)
  }

  function takePod(pod: SeenPod): void {
    const { uid, namespace, name } = pod.metadata
    const before = state.pods.get(uid)?.pod
    if (before !== undefined && isSynced) restarts.changed(before, pod, () => servedBy(before, pod))
    const touched = state.putPod(pod)
    const [now, was] = [heldBy(pod), before === undefined ? [] : heldBy(before)]
    const why = isFinished(pod) ? 'pod-finished' : 'pod-has-another-address'
    for (const address of was) if (!now.includes(address)) holders.release(address, `${cluster}/${uid}`, why)
    for (const address of now)
      if (!was.includes(address)) holders.hold(address, `${cluster}/${uid}`, { cluster, namespace, pod: name })
    if (isSynced) for (const change of changesOf(before, pod)) tellPod(pod, change)
    settleAll(touched, 'pod')
    stale.review(uid)
  }

  /** The Services through which the pod has got requests until now. A pod that is drained has none. */
  function servedBy(before: SeenPod, pod: SeenPod): RestartedService[] {
    const isDrained = before.isDrained === true || pod.isDrained === true
    if (isDrained || heldBy(before).some((address) => entries.isDrained(address))) return []
    const { services } = state.pods.get(pod.metadata.uid)!
    return [...services].map(({ namespace, name, wanted }) => ({ namespace, name, pods: wanted.size }))
  }

  function tellPod(pod: SeenPod, change: PodChange['change']): void {
    const { namespace, name } = pod.metadata
    const ready = readyOf(pod)
    const isTurn = change === 'ready' || change === 'not-ready'
    const because = change === 'not-ready' ? notReadyBecause(pod) : undefined
    context.tell({
      type: 'pod',
      at: context.now(),
      cluster,
      namespace,
      pod: name,
      change,
      ...(because === undefined ? {} : { because }),
      ...(isTurn && ready?.lastTransitionTime !== undefined ? { conditionAt: ready.lastTransitionTime } : {}),
      ...(change === 'address' ? { addresses: addressesOf(pod) } : {}),
    })
    if (change !== 'not-ready') return
    flaps.turnedNotReady(pod)
    if (because?.code === 'node-silent') silentNodes.podLost(pod.spec.nodeName!, pod.metadata)
  }

  function removePod(uid: string): void {
    const pod = state.pods.get(uid)?.pod
    if (pod === undefined) return
    const touched = state.removePod(uid)
    if (isSynced) tellPod(pod, 'gone')
    for (const address of heldBy(pod)) holders.release(address, `${cluster}/${uid}`, 'pod-gone')
    flaps.gone(uid)
    silentNodes.podGone(pod.spec.nodeName ?? '', uid)
    restarts.gone(uid)
    settleAll(touched, 'pod')
    stale.review(uid)
  }

  function takeNode(node: SeenNode): void {
    const { name } = node.metadata
    const before = state.nodes.get(name)
    settleAll(state.putNode(node), 'start')
    const was = before?.addresses ?? []
    for (const address of was) if (!node.addresses.includes(address)) releaseNode(address, name)
    for (const address of node.addresses) if (!was.includes(address)) holders.hold(address, `${cluster}/node/${name}`, undefined)
    silentNodes.nodeSeen(name, node.ready)
    if (isSynced && before?.ready !== node.ready)
      context.tell({ type: 'node', at: context.now(), cluster, node: name, ready: node.ready })
  }

  function removeNode(name: string): void {
    for (const address of state.nodes.get(name)?.addresses ?? []) releaseNode(address, name)
    // A node that comes or goes puts no Service into the queues of the controllers, so that the difference has no lag.
    settleAll(state.removeNode(name), 'start')
    silentNodes.nodeGone(name)
  }

  function releaseNode(address: string, name: string): void {
    holders.release(address, `${cluster}/node/${name}`, 'pod-gone')
  }

  function takeService(service: Service): void {
    const { namespace, name } = service.metadata
    const before = state.services.get(`${namespace}/${name}`)?.service
    if (before !== undefined) followLabels(before, service)
    settleAll(state.putService(service), 'pod')
    if (!isSynced) return
    const told = { type: 'service', at: context.now(), cluster, namespace, service: name } as const
    if (before === undefined) context.tell({ ...told, change: 'added' })
    else if (JSON.stringify(before.spec.selector) !== JSON.stringify(service.spec.selector))
      context.tell({ ...told, change: 'selector-changed' })
    const isKept = before !== undefined && hasSelector(before) === hasSelector(service)
    for (const object of state.services.get(`${namespace}/${name}`)!.objects.values()) {
      lookForHands(object)
      if (!isKept) stale.reviewObject(undefined, object)
    }
  }

  /** Watches are not in step: endpoints may be seen with the new labels before their Service. Such writes are no rewrites. */
  function followLabels({ metadata: before }: Service, { metadata: now }: Service): void {
    const { objects } = state.services.get(`${now.namespace}/${now.name}`)!
    if (!labels.serviceChanged(before.labels, now.labels, objects.keys())) return
    for (const { seen } of objects.values()) sweeps[seen.kind].forget(seen.uid)
  }

  function removeService(namespace: string, name: string): void {
    const had = state.services.get(`${namespace}/${name}`)?.service !== undefined
    settleAll(state.removeService(namespace, name), 'pod')
    if (had && isSynced) context.tell({ type: 'service', at: context.now(), cluster, namespace, service: name, change: 'gone' })
    if (!had) return
    context.later(context.now() + LAGS_KEPT_MS, () => {
      const isGone = state.services.get(`${namespace}/${name}`)?.service === undefined
      if (isGone) context.forgetLags({ cluster, namespace, service: name })
    })
  }

  function takeEndpoints(replaced: Replaced): void {
    const { before, now, touched } = replaced
    const content = now && contentOf(now)
    const isChanged = (before && contentOf(before)) !== content
    if (now !== undefined) {
      const written = { cluster, object: now.seen.kind }
      if (isChanged) {
        writers.wrote(now.seen, content!)
        if (isSynced) context.written({ ...written, effect: 'addresses' })
      } else if (before!.seen.resourceVersion !== now.seen.resourceVersion && isSynced) {
        if (isRewrite(before!.seen, now.seen)) sweeps[now.seen.kind].rewritten(now.seen.uid, now.seen.lastBy ?? now.seen.by)
        context.written({ ...written, effect: 'nothing' })
      }
    } else if (before !== undefined) {
      writers.gone(before.seen.uid)
      labels.gone(before.seen.uid)
      forgetTruncation(before.seen.uid)
      forgetHands(before.seen.uid)
    }
    if (!isSynced) return
    for (const one of touched) {
      const lagMs = settle(one, (now ?? before)!.seen.kind, 'endpoints')
      tellEndpoints(one, replaced, lagMs)
    }
    if (before !== undefined || now !== undefined) tellPodless(replaced)
    if (isChanged) stale.reviewObject(before, now)
    if (now !== undefined) {
      const { kind, namespace, service, isControllers } = now.seen
      if (isControllers) backlogs[kind].written(`${namespace}/${service}`)
      lookForTruncation(now)
      lookForHands(now)
    }
  }

  /** Endpoints without a Service, such as the locks of old leader elections, are renewed all the time and count as no rewrite. */
  function isRewrite(before: SeenEndpoints, now: SeenEndpoints): boolean {
    const hasService = state.services.get(`${now.namespace}/${now.service}`)?.service !== undefined
    return hasService && !labels.followsService(before, now)
  }

  function tellEndpoints({ pod }: Touched, { before, now }: Replaced, lagMs: number | undefined): void {
    const [own, former] = [now?.byPod.get(pod) ?? [], before?.byPod.get(pod) ?? []]
    tellAddresses((now ?? before)!.seen, changesBetween(former, own), lagMs)
  }

  /** Addresses without a `targetRef` to a pod come from another writer than the controllers, and have no lag after a pod. */
  function tellPodless({ before, now }: Replaced): void {
    const podless = (one: ObjectState | undefined): SeenAddress[] =>
      one?.seen.addresses.filter((of) => of.pod === undefined) ?? []
    tellAddresses((now ?? before)!.seen, changesBetween(podless(before), podless(now)))
  }

  function tellAddresses(object: SeenEndpoints, turns: readonly [SeenAddress, EndpointChange['change']][], lagMs?: number): void {
    const { kind, namespace, service, name, triggerAt } = object
    const of = { cluster, namespace, service }
    const isCopy = !state.isControllers(object)
    for (const [{ address, podName }, change] of turns) {
      const isReadyNow = isReadyIn(object, address)
      const lags = isCopy ? copies.turned(of, kind, address, isReadyNow) : []
      if (kind === 'EndpointSlice') changes.changed(of, address, isReadyNow, isCopy)
      context.tell({
        type: 'endpoint',
        at: context.now(),
        ...of,
        object: kind,
        name,
        address,
        ...(podName === undefined ? {} : { pod: podName }),
        change,
        ...(triggerAt === undefined ? {} : { triggerAt }),
        ...(lagMs === undefined ? {} : { lagMs }),
        ...(lags.length === 0 ? {} : { lags }),
      })
    }
  }

  /** All objects of the Service are looked at: an address that moves from one slice to another is in both for a while. */
  function isReadyIn({ kind, namespace, service }: SeenEndpoints, address: string): boolean {
    return [...state.objectsAt(address)].some(
      ({ seen }) =>
        seen.kind === kind &&
        seen.namespace === namespace &&
        seen.service === service &&
        seen.addresses.some((one) => one.address === address && one.ready),
    )
  }

  function lookForTruncation({ seen }: ObjectState): void {
    if (seen.isTruncated !== true) return forgetTruncation(seen.uid)
    if (truncated.has(seen.uid)) return
    truncated.add(seen.uid)
    const { namespace, service, addresses } = seen
    context.find({ code: 'endpoints-truncated', cluster, namespace, service, addresses: addresses.length }, seen.uid)
  }

  function forgetTruncation(uid: string): void {
    if (truncated.delete(uid)) context.over('endpoints-truncated', uid)
  }

  /** Finds addresses of Endpoints that no pod of the selector has, and that a client other than the controller has written. */
  function lookForHands({ seen: { uid, kind, namespace, service, by, addresses } }: ObjectState): void {
    if (kind !== 'Endpoints' || by === undefined || unread.has('pods')) return
    if (by.is === 'controller-manager' || by.is === 'sluice') return forgetHands(uid)
    const owner = state.services.get(`${namespace}/${service}`)
    if (owner?.service === undefined || !hasSelector(owner.service)) return forgetHands(uid)
    const own = new Set([...owner.wanted.keys()].flatMap((pod) => addressesOf(state.pods.get(pod)!.pod)))
    const foreign = addresses.flatMap(({ address }) => (own.has(address) ? [] : [address]))
    if (foreign.length === 0) return forgetHands(uid)
    const told = JSON.stringify([by.manager, foreign])
    if (toldByHand.get(uid) === told) return
    toldByHand.set(uid, told)
    context.find({ code: 'endpoints-by-hand', cluster, namespace, service, by, addresses: foreign }, uid)
  }

  function forgetHands(uid: string): void {
    if (toldByHand.delete(uid)) context.over('endpoints-by-hand', uid)
  }

  function reached(): void {
    isReachable = true
    context.over('cluster-unreachable', cluster)
  }

  function readNodes(does: boolean): void {
    silentNodes.readsNodes(does)
    settleAll(state.setHasNodes(does), 'start')
  }

  /** Looks once at everything that was there when the observation began. None of it is told as a change. */
  function sync(minor: number | undefined): void {
    if (minor !== undefined) state.setRules(controllerRules(minor))
    isSynced = true
    reached()
    for (const service of state.services.values())
      for (const pod of service.wanted.keys()) for (const kind of KINDS) settle({ service, pod }, kind, 'start')
    for (const object of state.objects.values()) {
      stale.reviewObject(undefined, object)
      lookForTruncation(object)
      lookForHands(object)
    }
    entries.review()
  }

  /** Looks for findings again, since the cluster can be read again. */
  function reviewAll(): void {
    for (const kind of KINDS) backlogs[kind].review()
    for (const object of state.objects.values()) stale.reviewObject(undefined, object)
    entries.review()
  }

  return {
    state,
    take(event) {
      switch (event.type) {
        case 'pod':
          return takePod(event.pod)
        case 'pod-gone':
          return removePod(event.uid)
        case 'node':
          return takeNode(event.node)
        case 'node-gone':
          return removeNode(event.name)
        case 'service':
          return takeService(event.service)
        case 'service-gone':
          return removeService(event.namespace, event.name)
        case 'endpoints':
          return takeEndpoints(state.putEndpoints(event.endpoints))
        case 'endpoints-gone':
          return takeEndpoints(state.removeEndpoints(event.uid))
        case 'synced':
          return sync(event.minor)
        case 'unread':
          unread.add(event.what)
          // The right to read nodes is optional: most findings do not need it.
          if (event.what === 'nodes') return readNodes(false)
          forgetInstants()
          return context.find(
            { code: 'objects-unread', cluster, what: event.what, because: event.because },
            `${cluster}/${event.what}`,
          )
        case 'read':
          unread.delete(event.what)
          context.over('objects-unread', `${cluster}/${event.what}`)
          if (event.what === 'nodes') readNodes(true)
          return reviewAll()
        case 'unreachable':
          if (isReachable) context.find({ code: 'cluster-unreachable', cluster, because: event.because }, cluster)
          isReachable = false
          return forgetInstants()
        case 'manager-metrics':
          return manager.take(event)
        case 'manager-metrics-unread':
          return
        case 'reached':
          reached()
          reviewAll()
      }
    },
    is: () => (!isReachable ? 'unreachable' : isSynced ? 'observed' : 'listing'),
    backlogs: () => KINDS.map((object) => ({ cluster, object, ...backlogs[object].size() })),
    reviewAt(address) {
      if (isSynced) stale.reviewAt(address)
    },
    seesAll: () => isSynced && isReachable && !unread.has('pods') && !unread.has('nodes'),
    end() {
      silentNodes.end()
      for (const kind of KINDS) {
        sweeps[kind].end()
        backlogs[kind].end()
      }
    },
  }
}

function addressesOf({ status }: SeenPod): string[] {
  const all = [status?.podIP, ...(status?.podIPs ?? []).map(({ ip }) => ip)]
  return [...new Set(all.filter((ip) => ip !== undefined && ip !== ''))] as string[]
}

/** The status of a finished pod keeps its addresses, although other pods may have them by now. */
function heldBy(pod: SeenPod): string[] {
  return isFinished(pod) ? [] : addressesOf(pod)
}

function changesOf(before: SeenPod | undefined, pod: SeenPod): PodChange['change'][] {
  if (before === undefined) return ['added']
  const [was, is] = [isReady(before), isReady(pod)]
  const isDeleted = before.metadata.deletionTimestamp === undefined && pod.metadata.deletionTimestamp !== undefined
  return [
    ...(isDeleted ? ['terminating' as const] : []),
    ...(standing(asAddresses(before)) === standing(asAddresses(pod)) ? [] : ['address' as const]),
    ...(was === is ? [] : [is ? ('ready' as const) : ('not-ready' as const)]),
  ]
}

function changesBetween(former: readonly SeenAddress[], own: readonly SeenAddress[]): [SeenAddress, EndpointChange['change']][] {
  const [was, is] = [former, own].map((some) => new Map(some.map((one) => [one.address, one])))
  return [
    ...[...is!.values()]
      .filter(({ address, ready }) => was!.get(address)?.ready !== ready)
      .map((one): [SeenAddress, EndpointChange['change']] => [one, one.ready ? 'ready' : 'not-ready']),
    ...[...was!.values()]
      .filter(({ address }) => !is!.has(address))
      .map((one): [SeenAddress, EndpointChange['change']] => [one, 'gone']),
  ]
}

function asAddresses(pod: SeenPod): SeenAddress[] {
  return addressesOf(pod).map((address) => ({ address, ready: true }))
}

/** The addresses, ports and hints of the object as one text. Readers of endpoints act on these alone. */
function contentOf({ seen: { addresses, ports, hints = '' } }: ObjectState): string {
  const texts = addresses.map(({ pod = '', ...address }) => `${pod} ${standing([address])}`)
  return `${ports}\n${texts.sort().join()}\n${hints}`
}
