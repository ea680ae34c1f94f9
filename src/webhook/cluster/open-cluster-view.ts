import type { StoredPod } from '../../endpoints/stored.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { ObjectRecord, ReflectorEvent } from '../../kube/reflector.ts'
import { type Collection, type CollectionState, openCollection } from '../../observation/collection.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { type ClusterChange, type ClusterIndex, createClusterIndex, type ServiceName } from './cluster-index.ts'
import { keptEndpoints, keptNode, keptPod, keptService, keptSlice } from './kept-fields.ts'

/** Longer than a restart of an API server takes. */
const STALE_AFTER_MS = 120_000

export const VIEWED_KINDS = ['pods', 'services', 'endpointslices', 'endpoints', 'nodes'] as const
export type ViewedKind = (typeof VIEWED_KINDS)[number]

/** The state of one kind in one namespace. */
export interface KindState {
  readonly kind: ViewedKind
  /** Absent for nodes. */
  readonly namespace?: string
  /**
   * - `listing`: the first list is under way.
   * - `current`: the objects are those of the API server, apart from the lag of a watch.
   * - `broken`: the API server does not answer. The objects are those of before.
   * - `refused`: the webhook may not list or watch the kind. A rule that reads it counts as failing, unless it was listed before.
   * - `absent`: the API server has no such kind, such as Endpoints where that API is off.
   */
  readonly is: CollectionState['is']
  /** The objects were listed at least once since the process began. */
  readonly isListed: boolean
  readonly objects: number
  readonly because?: Error
}

export interface ClusterViewOptions {
  client: KubeClient
  clock: Clock
  random: Random
  namespaces: Iterable<string>
  /** Called with each change that may concern the endpoints of Services. */
  onChange?(services: readonly ServiceName[], change: ClusterChange): void
  /** Called after each change of a pod. `now` is undefined for a pod that is gone. */
  onPod?(uid: string, before: StoredPod | undefined, now: StoredPod | undefined): void
  /** Called when the state of one kind in one namespace changes. */
  onState?(state: KindState): void
  /** Called with each failure, and with each object that cannot be read. For logs. */
  onError?(error: Error): void
  signal: AbortSignal
}

/** The objects of the allowed namespaces, watched until the signal. */
export interface LiveClusterView extends ClusterIndex {
  states(): readonly KindState[]
  /** Each kind is listed, refused or absent, so that a decision rests on what there is to know. */
  isListed(): boolean
  /**
   * The kinds whose objects are no longer those of the API server: they were listed, and have not been current for two minutes. A decision
   * that rests on them may be wrong for ever.
   */
  stale(namespace: string): readonly ViewedKind[]
  /** The stored objects are current, so that a second look at them is worth its while. */
  isCurrent(namespace: string): boolean
  /** Resolves once each kind is listed, refused or absent; also by the signal. */
  settled: Promise<void>
  /** Resolves after the signal, once all watches have ended. */
  ended: Promise<void>
}

interface ObjectOfKind {
  readonly metadata: { readonly name: string }
}

interface ObjectKind<K extends ClusterChange['kind']> {
  kind: K
  decode(raw: unknown): Extract<ClusterChange, { kind: K }>['object']
}

interface Watched {
  kind: ViewedKind
  namespace?: string
  /** Absent until it is open. */
  collection?: Collection<KeptRecord>
  isListed: boolean
  /** The instant at which the objects ceased to be current. Absent while they are. */
  notCurrentSinceAt?: number | undefined
}

interface KeptRecord extends ObjectRecord {
  object: ObjectOfKind
}

/** Lists and watches the kinds that rules look at in each namespace, and the nodes. A kind that cannot be read is a state, and no error. */
export function openClusterView(options: ClusterViewOptions): LiveClusterView {
  const { client, clock, random, namespaces, signal, onChange, onPod, onState, onError } = options
  const index = createClusterIndex()
  const watched: Watched[] = []

  function watch<K extends ClusterChange['kind']>(
    kind: ViewedKind,
    path: string,
    { kind: name, decode }: ObjectKind<K>,
    namespace?: string,
  ): void {
    const one: Watched = { kind, ...(namespace === undefined ? {} : { namespace }), isListed: false }
    one.collection = openCollection<KeptRecord>({
      client,
      clock,
      random,
      path,
      signal,
      decode: (raw) => ({ ...identityOf(raw), object: decode(raw) }),
      onEvent({ type, record: { object } }: ReflectorEvent<KeptRecord>) {
        const change = { kind: name, is: type === 'deleted' ? 'gone' : 'put', object } as unknown as ClusterChange
        const before = change.kind === 'Pod' ? index.pod(change.object.metadata.uid) : undefined
        const services = index.apply(change, clock.wallNow())
        if (change.kind === 'Pod') onPod?.(change.object.metadata.uid, before, change.is === 'gone' ? undefined : change.object)
        if (services.length > 0) onChange?.(services, change)
      },
      onState(state) {
        if (state.is === 'current') one.isListed = true
        onState?.(stateOf(one, state))
      },
      onCurrent(isCurrent) {
        one.notCurrentSinceAt = isCurrent ? undefined : (one.notCurrentSinceAt ?? clock.now())
      },
      ...(onError && { onError }),
    })
    watched.push(one)
  }

  for (const namespace of new Set(namespaces)) {
    const within = `namespaces/${encodeURIComponent(namespace)}`
    watch('pods', `/api/v1/${within}/pods`, { kind: 'Pod', decode: keptPod }, namespace)
    watch('services', `/api/v1/${within}/services`, { kind: 'Service', decode: keptService }, namespace)
    watch(
      'endpointslices',
      `/apis/discovery.k8s.io/v1/${within}/endpointslices`,
      { kind: 'EndpointSlice', decode: keptSlice },
      namespace,
    )
    watch('endpoints', `/api/v1/${within}/endpoints`, { kind: 'Endpoints', decode: keptEndpoints }, namespace)
  }
  watch('nodes', '/api/v1/nodes', { kind: 'Node', decode: keptNode })

  let hasSettled = false
  async function settle(): Promise<void> {
    await Promise.all(watched.map(({ collection }) => collection!.settled))
    hasSettled = true
  }
  async function end(): Promise<void> {
    await Promise.all(watched.map(({ collection }) => collection!.ended))
  }
  return {
    ...index,
    states: () => watched.map((one) => stateOf(one, one.collection!.state())),
    isListed: () => hasSettled,
    isCurrent: (namespace) =>
      watched.every(
        ({ kind, namespace: of, collection }) =>
          (of !== undefined && of !== namespace) ||
          collection!.isCurrent() ||
          // Without nodes or Endpoints there is less to look at, and that for good.
          ((kind === 'nodes' || kind === 'endpoints') && ['refused', 'absent'].includes(collection!.state().is)),
      ),
    stale: (namespace) =>
      watched.flatMap((one) => {
        const { kind, namespace: of, isListed, notCurrentSinceAt = Infinity } = one
        const isOld = isListed && clock.now() - notCurrentSinceAt > STALE_AFTER_MS
        // A cluster without the API for Endpoints has no Endpoints. For the other kinds, a 404 is a mistake on the way to the cluster.
        const isOff = kind === 'endpoints' && one.collection!.state().is === 'absent'
        return isOld && (of ?? namespace) === namespace && !isOff ? [kind] : []
      }),
    settled: settle(),
    ended: end(),
  }
}

function stateOf({ kind, namespace, collection, isListed }: Watched, state: CollectionState): KindState {
  return {
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    is: state.is,
    isListed,
    objects: collection?.records().size ?? 0,
    ...('because' in state && { because: state.because }),
  }
}

function identityOf(raw: unknown): ObjectRecord {
  const { uid, name, namespace = '', resourceVersion } = (raw as { metadata: ObjectRecord }).metadata
  return { uid, name, namespace, resourceVersion }
}
