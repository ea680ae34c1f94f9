import { reasonOf } from '../../engine/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { stringField } from '../../kube/json.ts'
import type { ReflectorEvent } from '../../kube/reflector.ts'
import { type Collection, openCollection } from '../../observation/collection.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { ClusterEvent, ReadKind } from '../events.ts'
import { type Kept, keptEndpoints, keptNode, keptPod, keptService, keptSlice, type Listener } from './records.ts'

/** An event without its instant and its cluster. */
export type Unstamped = ClusterEvent extends infer One ? (One extends ClusterEvent ? Omit<One, 'at' | 'cluster'> : never) : never

export interface WatchPorts {
  client: KubeClient
  clock: Clock
  random: Random
  signal: AbortSignal
  emit(event: Unstamped): void
}

export interface ClusterWatch {
  /** Returns the pods that are known now, with the fields that load balancers are asked with. */
  listeners(): Listener[]
  /** Resolves once the pods are listed, or once it is known that they cannot be read for now. */
  podsKnown: Promise<void>
  /** Resolves after the signal, once all watches have ended. */
  ended: Promise<unknown>
}

interface KindOfObject {
  what: ReadKind
  path: string
  decode: (raw: unknown) => Kept<unknown>
  put: (kept: Kept<never>) => Unstamped
  gone: (kept: Kept<unknown>) => Unstamped
  /** Whether a new version of an object with unchanged content is no event. */
  isByContent: boolean
}

/** Lists and watches each kind once, in one namespace or in all. A kind that cannot be read is an event, and no error. */
export function watchCluster(namespace: string | undefined, ports: WatchPorts): ClusterWatch {
  const { client, clock, random, signal, emit } = ports
  const pods = new Map<string, Listener>()
  const kinds = kindsIn(namespace)
  const pending = new Set(kinds.map(({ what }) => what))
  const podsKnown = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => podsKnown.resolve())
  const unread = new Set<ReadKind>()
  const collections: Collection<Kept<unknown>>[] = []
  let isAway = false

  async function settled(what: ReadKind): Promise<void> {
    if (what === 'pods') podsKnown.resolve()
    if (signal.aborted) return
    if (!pending.delete(what) || pending.size > 0) return
    const version = await client.get('/version').catch(() => undefined)
    const minor = Number.parseInt(stringField(version, 'minor') ?? '', 10)
    if (!signal.aborted) emit({ type: 'synced', ...(Number.isNaN(minor) ? {} : { minor }) })
  }

  function refused(what: ReadKind, error: unknown): void {
    if (!unread.has(what)) emit({ type: 'unread', what, because: reasonOf(error) })
    unread.add(what)
  }

  function away(error: Error): void {
    if (!isAway && !signal.aborted) emit({ type: 'unreachable', because: reasonOf(error) })
    isAway = true
    podsKnown.resolve()
  }

  /** Emits `reached` once no watch is broken: each kind comes back by itself, and objects of one kind refer to those of another. */
  function back(): void {
    if (!isAway || collections.some((one) => one.isBroken())) return
    emit({ type: 'reached' })
    isAway = false
  }

  function watch(kind: KindOfObject): Promise<void> {
    const { what, path, decode } = kind
    const contents = new Map<string, string>()
    const collection = openCollection<Kept<unknown>>({
      client,
      clock,
      random,
      path,
      decode,
      onEvent: (event) => take(kind, event, contents),
      onState(state) {
        if (state.is === 'broken') away(state.because)
        // A later version of Kubernetes may have no Endpoints, which are deprecated.
        else if (state.is === 'refused' || (state.is === 'absent' && what !== 'endpoints')) refused(what, state.because)
      },
      onCurrent(isCurrent) {
        if (!isCurrent) return
        if (unread.delete(what)) emit({ type: 'read', what })
        back()
      },
      signal,
    })
    collections.push(collection)
    collection.settled.then(() => settled(what))
    return collection.ended
  }

  function take(kind: KindOfObject, { type, record }: ReflectorEvent<Kept<unknown>>, contents: Map<string, string>): void {
    if (kind.what === 'pods') {
      if (type === 'deleted') pods.delete(record.uid)
      else pods.set(record.uid, (record as unknown as { listener: Listener }).listener)
    }
    if (type === 'deleted') {
      contents.delete(record.uid)
      return emit(kind.gone(record))
    }
    if (kind.isByContent) {
      const content = JSON.stringify(record.seen)
      if (contents.get(record.uid) === content) return
      contents.set(record.uid, content)
    }
    emit(kind.put(record as Kept<never>))
  }

  const ended = Promise.all(kinds.map(watch))
  return { listeners: () => [...pods.values()], podsKnown: podsKnown.promise, ended }
}

function kindsIn(namespace: string | undefined): KindOfObject[] {
  const within = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return [
    {
      what: 'pods',
      path: `/api/v1${within}/pods`,
      decode: keptPod,
      put: ({ seen }) => ({ type: 'pod', pod: seen }),
      gone: ({ uid }) => ({ type: 'pod-gone', uid }),
      isByContent: true,
    },
    {
      what: 'nodes',
      path: '/api/v1/nodes',
      decode: keptNode,
      put: ({ seen }) => ({ type: 'node', node: seen }),
      gone: ({ name }) => ({ type: 'node-gone', name }),
      isByContent: true,
    },
    {
      what: 'services',
      path: `/api/v1${within}/services`,
      decode: keptService,
      put: ({ seen }) => ({ type: 'service', service: seen }),
      gone: ({ namespace: of, name }) => ({ type: 'service-gone', namespace: of, name }),
      isByContent: true,
    },
    ...(
      [
        ['endpointslices', `/apis/discovery.k8s.io/v1${within}/endpointslices`, keptSlice],
        ['endpoints', `/api/v1${within}/endpoints`, keptEndpoints],
      ] as const
    ).map(([what, path, decode]): KindOfObject => ({
      what,
      path,
      decode,
      put: ({ seen }) => ({ type: 'endpoints', endpoints: seen }),
      gone: ({ uid }) => ({ type: 'endpoints-gone', uid }),
      // A sweep consists of writes that change no address.
      isByContent: false,
    })),
  ]
}
