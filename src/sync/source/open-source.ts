import type { KubeClient } from '../../kube/client.ts'
import { apiReason, KubeError } from '../../kube/errors.ts'
import { backoffMs, pause } from '../../kube/pause.ts'
import { type Collection, openCollection } from '../../observation/collection.ts'
import type { ObjectRecord, ReflectorEvent } from '../../kube/reflector.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { Reason } from '../../reasons/reason.ts'
import type { AwayReason, SourceContent, SourceView, WantedEndpoint } from '../model.ts'
import { type Namespaces, watchNamespaces } from '../namespaces.ts'
import type { SourceProblem } from '../problems.ts'
import type { SourceCluster } from '../sync-run.ts'
import type { Offset } from './clock-offset.ts'
import { type Identity, watchIdentity } from './identity.ts'
import { type PodRecord, type ServiceRecord, sourcePod, sourceService, type SourceSlice, sourceSlice } from './source-records.ts'

/** The state of a source for one namespace. `listing`: nothing can be said for now. */
export type SourceState =
  | { readonly is: 'listing' | 'current' }
  | { readonly is: 'away'; readonly sinceAt: number; readonly because: AwayReason }

/** A change of a source, with the time that the source states for it. */
export interface SourceChange {
  readonly triggerAt?: number
}

export interface Source {
  readonly name: string
  /** The view of a Service, without what this process has written. `known` may be of another cluster than before. */
  view(namespace: string, service: string): Exclude<SourceView, { is: 'replaced' }>
  /** The names of slices whose addresses cannot be copied. */
  uncopied(namespace: string, service: string): string[]
  /** The state over all namespaces: the worst. */
  state(): SourceState
  problems(): readonly SourceProblem[]
  /** False where it is not known yet whether the source has the namespace of a Service that it lacks. */
  isNamespaceKnown(namespace: string): boolean
  cluster(): { readonly uid: string; readonly sinceAt: number } | undefined
  /** True where the cluster has said which one it is after the last change of the Service. Otherwise the cluster is asked. */
  isConfirmed(namespace: string, service: string): boolean
  offset(): Offset | undefined
  /** Lists all anew. */
  refresh(): Promise<void>
  ended: Promise<unknown>
}

export interface SourcePorts {
  cluster: SourceCluster
  /** The names of the Services, by namespace. */
  services: ReadonlyMap<string, ReadonlySet<string>>
  clock: Clock
  random: Random
  signal: AbortSignal
  /** Called with each change of a Service. Without a service: with each change of what is known about all of a namespace. */
  onChange(namespace: string, service?: string, change?: SourceChange): void
}

const AGAIN_WITHIN_MS = 30_000
/**
 * The time for which a pod counts as under upgrade by a list of pods that is not current any more. A pod that was out stays out for a while,
 * and does not stay out for ever. From then on its readiness counts.
 */
const STALE_UPGRADE_MS = 600_000

interface Scope {
  readonly slices: Collection<SourceSlice>
  readonly services: Collection<ServiceRecord>
  readonly pods: Collection<PodRecord>
  /** By the name of the Service. */
  readonly slicesOf: Map<string, Map<string, SourceSlice>>
  readonly serviceOf: Map<string, ServiceRecord>
  /** The UIDs of the pods under upgrade. */
  readonly upgrading: Set<string>
  /** The instant of the last change, by the name of the Service. */
  readonly changedAt: Map<string, number>
  readonly openedAt: number
  /** The instant at which the lists have last ceased to be current. */
  brokenAt?: number
  awaySince?: number
  /** The instant at which the list of pods has ceased to be current. Absent while it is. */
  podsStaleSince?: number
  lastError?: Error
}

export function openSource({ cluster, services, clock, random, signal, onChange }: SourcePorts): Source {
  const scopes = new Map<string, Scope>()
  let identity: Identity | undefined
  let namespaces: Namespaces | undefined
  let unconnected: { because: Reason; sinceAt: number } | undefined
  let ended: Promise<unknown> = Promise.resolve()
  /** The lists that are under way since another cluster answers. */
  let relists = 0

  function tell(namespace: string): void {
    onChange(namespace)
  }

  function tellAll(): void {
    for (const namespace of services.keys()) tell(namespace)
  }

  /** A watch that goes on from a version of the former cluster brings the new objects, and tells of no deletion. */
  async function listAnew(): Promise<void> {
    relists += 1
    await refresh()
    relists -= 1
    if (!signal.aborted) tellAll()
  }

  async function refresh(): Promise<void> {
    await Promise.all(
      [...scopes.values()].flatMap(({ slices, services: ofScope, pods }) => [
        slices.refresh(),
        ofScope.refresh(),
        // Pods are optional. A list that does not answer would hold up the others.
        ...(pods.isCurrent() ? [pods.refresh()] : []),
      ]),
    )
  }

  async function connect(): Promise<KubeClient | undefined> {
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        return await cluster.connect()
      } catch (error) {
        unconnected = { because: reasonOf(error), sinceAt: unconnected?.sinceAt ?? clock.now() }
        tellAll()
        await pause(clock, Math.min(AGAIN_WITHIN_MS, backoffMs(random, failures) * failures), signal)
      }
    }
    return undefined
  }

  async function open(): Promise<void> {
    const client = await connect()
    if (client === undefined || signal.aborted) return
    unconnected = undefined
    namespaces = watchNamespaces(client, clock, signal, tell)
    identity = watchIdentity({ client, clock, random, signal, onKnown: tellAll, onReplaced: () => void listAnew() })
    for (const [namespace, names] of services) scopes.set(namespace, openScope(client, namespace, names))
    const collections = [...scopes.values()].flatMap((scope): Collection<ObjectRecord>[] => [
      scope.slices,
      scope.services,
      scope.pods,
    ])
    ended = Promise.all([identity.ended, ...collections.map((one) => one.ended)])
    await ended
  }

  function openScope(client: KubeClient, namespace: string, names: ReadonlySet<string>): Scope {
    const within = `namespaces/${encodeURIComponent(namespace)}`

    function watch<R extends ObjectRecord>(
      path: string,
      decode: (raw: unknown) => R,
      onEvent: (event: ReflectorEvent<R>) => void,
      onCurrent: (isCurrent: boolean) => void,
    ): Collection<R> {
      return openCollection({
        client,
        clock,
        random,
        path,
        decode,
        onEvent,
        signal,
        onState: () => tell(namespace),
        onCurrent,
        onError: (error) => (scope.lastError = error),
      })
    }

    function turnCurrent(isCurrent: boolean): void {
      if (isCurrent) identity?.ask(scope.brokenAt ?? Number.NEGATIVE_INFINITY)
      else scope.brokenAt = clock.now()
      tell(namespace)
    }

    let forgetting: unknown
    function turnPodsCurrent(isCurrent: boolean): void {
      clock.clearTimeout(forgetting)
      if (isCurrent) delete scope.podsStaleSince
      else {
        scope.podsStaleSince = clock.now()
        if (!signal.aborted) forgetting = clock.setTimeout(() => tell(namespace), STALE_UPGRADE_MS)
      }
      tell(namespace)
    }
    signal.addEventListener('abort', () => clock.clearTimeout(forgetting))

    function changed(service: string | undefined, change?: SourceChange): void {
      if (service === undefined || !names.has(service)) return
      scope.changedAt.set(service, clock.now())
      onChange(namespace, service, change)
    }

    function takeSlice({ type, record }: ReflectorEvent<SourceSlice>): void {
      const before = formerService(scope, record.uid)
      if (before !== undefined) scope.slicesOf.get(before)!.delete(record.uid)
      const { service, triggerAt } = record
      const change = triggerAt === undefined || type === 'deleted' ? {} : { triggerAt }
      if (before !== service) changed(before)
      if (service !== undefined && names.has(service) && type !== 'deleted') {
        const some = scope.slicesOf.get(service) ?? new Map<string, SourceSlice>()
        scope.slicesOf.set(service, some.set(record.uid, record))
      }
      changed(service, change)
    }

    function takeService({ type, record }: ReflectorEvent<ServiceRecord>): void {
      if (type === 'deleted') {
        if (scope.serviceOf.get(record.name)?.uid === record.uid) scope.serviceOf.delete(record.name)
      } else scope.serviceOf.set(record.name, record)
      changed(record.name)
    }

    function takePod({ type, record }: ReflectorEvent<PodRecord>): void {
      const isUpgrading = type !== 'deleted' && record.isUpgrading
      if (scope.upgrading.has(record.uid) === isUpgrading) return
      if (isUpgrading) scope.upgrading.add(record.uid)
      else scope.upgrading.delete(record.uid)
      for (const [service, slices] of scope.slicesOf)
        if ([...slices.values()].some((slice) => slice.endpoints.some(({ pod }) => pod === record.uid))) changed(service)
    }

    const scope: Scope = {
      slicesOf: new Map(),
      serviceOf: new Map(),
      upgrading: new Set(),
      changedAt: new Map(),
      openedAt: clock.now(),
      slices: watch(`/apis/discovery.k8s.io/v1/${within}/endpointslices`, sourceSlice, takeSlice, turnCurrent),
      services: watch(`/api/v1/${within}/services`, sourceService, takeService, turnCurrent),
      pods: watch(`/api/v1/${within}/pods`, sourcePod, takePod, turnPodsCurrent),
    }
    return scope
  }

  function stateOf(namespace: string): SourceState {
    if (unconnected !== undefined)
      return { is: 'away', sinceAt: unconnected.sinceAt, because: { is: 'unconnected', because: unconnected.because } }
    const scope = scopes.get(namespace)
    if (scope === undefined || identity === undefined) return { is: 'listing' }
    const because = awayReason(scope)
    if (because !== undefined) {
      scope.awaySince ??= scope.brokenAt ?? scope.openedAt
      return { is: 'away', sinceAt: scope.awaySince, because }
    }
    // The pods tell which endpoints are under upgrade. Where they are not read, there is nothing to wait for.
    const arePodsKnown = scope.pods.state().is !== 'listing'
    const isCurrent = relists === 0 && scope.slices.isCurrent() && scope.services.isCurrent() && arePodsKnown
    if (!isCurrent || !identity.isKnownSince(scope.brokenAt ?? Number.NEGATIVE_INFINITY)) return { is: 'listing' }
    delete scope.awaySince
    return { is: 'current' }
  }

  function content({ slicesOf, serviceOf, upgrading, podsStaleSince }: Scope, service: string): SourceContent {
    const found = serviceOf.get(service)
    const isForgotten = podsStaleSince !== undefined && clock.now() - podsStaleSince >= STALE_UPGRADE_MS
    const known: ReadonlySet<string> = isForgotten ? new Set() : upgrading
    const endpoints = [...(slicesOf.get(service)?.values() ?? [])].flatMap((slice) => wantedIn(slice, known))
    return { endpoints, ...(found === undefined ? {} : { service: found.service }) }
  }

  const opened = open()
  return {
    name: cluster.name,
    view(namespace, service) {
      const state = stateOf(namespace)
      if (state.is === 'listing') return { is: 'listing' }
      if (state.is === 'away') return state
      const found = content(scopes.get(namespace)!, service)
      if (found.service === undefined && found.endpoints.length === 0)
        return { is: 'without', lacks: namespaces?.isMissing(namespace) === true ? 'namespace' : 'service' }
      return { is: 'known', ...found }
    },
    uncopied: (namespace, service) =>
      [...(scopes.get(namespace)?.slicesOf.get(service)?.values() ?? [])]
        .filter(({ canBeCopied }) => !canBeCopied)
        .map(({ name }) => name)
        .sort(),
    state() {
      const states = [...services.keys()].map(stateOf)
      return states.find(({ is }) => is === 'away') ?? states.find(({ is }) => is === 'listing') ?? { is: 'current' }
    },
    problems() {
      const unread = [...scopes.values()].map(({ pods }) => pods.state()).find((state) => 'because' in state)
      const refusal = identity?.refusal()
      return [
        ...(unread !== undefined && 'because' in unread
          ? [{ code: 'pods-unread' as const, because: reasonOf(unread.because) }]
          : []),
        ...(refusal === undefined ? [] : [{ code: 'identity-unread' as const, because: refusal }]),
      ]
    },
    isNamespaceKnown: (namespace) => namespaces?.isMissing(namespace) !== undefined,
    cluster: () => identity?.cluster(),
    isConfirmed(namespace, service) {
      const changedAt = scopes.get(namespace)?.changedAt.get(service) ?? Number.NEGATIVE_INFINITY
      if (identity === undefined || identity.isKnownSince(changedAt)) return true
      identity.ask(changedAt)
      return false
    },
    offset: () => identity?.offset(),
    refresh,
    ended: opened.then(() => ended),
  }
}

/** A kind that is refused, or does not answer for a while. A shorter break is no news. */
function awayReason({ slices, services }: Scope): AwayReason | undefined {
  for (const [what, collection] of [
    ['endpointslices', slices],
    ['services', services],
  ] as const) {
    const state = collection.state()
    if (state.is === 'refused' || state.is === 'absent') return { is: 'refused', what, because: reasonOf(state.because) }
  }
  for (const collection of [slices, services]) {
    const state = collection.state()
    if (state.is === 'broken') return { is: 'unanswered', because: reasonOf(state.because) }
  }
  return undefined
}

function formerService({ slicesOf }: Scope, uid: string): string | undefined {
  for (const [service, slices] of slicesOf) if (slices.has(uid)) return service
  return undefined
}

/** The endpoints of slices none of whose pods is under upgrade. A slice never changes: another version is another record. */
const quiet = new WeakMap<SourceSlice, readonly WantedEndpoint[]>()

function wantedIn(slice: SourceSlice, upgrading: ReadonlySet<string>): readonly WantedEndpoint[] {
  if (!slice.canBeCopied) return []
  if (upgrading.size > 0 && slice.endpoints.some(({ pod }) => pod !== undefined && upgrading.has(pod)))
    return withUpgrading(slice, upgrading)
  let wanted = quiet.get(slice)
  if (wanted === undefined) quiet.set(slice, (wanted = withUpgrading(slice, upgrading)))
  return wanted
}

function withUpgrading(slice: SourceSlice, upgrading: ReadonlySet<string>): WantedEndpoint[] {
  return slice.endpoints.map(({ address, conditions, hostname, zone, pod }) => {
    const isUpgrading = pod !== undefined && upgrading.has(pod)
    return {
      addressType: slice.addressType,
      address,
      ports: slice.ports,
      conditions: isUpgrading ? { ...conditions, ready: false } : conditions,
      ...(hostname === undefined ? {} : { hostname }),
      ...(zone === undefined ? {} : { zone }),
      ...(isUpgrading ? { isUpgrading } : {}),
    }
  })
}

export function reasonOf(error: unknown): Reason {
  if (error instanceof KubeError) return apiReason(error)
  return { code: 'error', said: error instanceof Error ? error.message : String(error) }
}
