import type { Bound } from '../../kube/bound.ts'
import type { KubeClient, WriteOptions } from '../../kube/client.ts'
import { isConflict, isNotFound, KubeError } from '../../kube/errors.ts'
import { field, stringField } from '../../kube/json.ts'
import type { ObjectRecord, ReflectorEvent } from '../../kube/reflector.ts'
import { SLICE_MANAGED_BY } from '../../endpoints/endpoint-labels.ts'
import { type Collection, openCollection } from '../../observation/collection.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { Reason } from '../../reasons/reason.ts'
import type { AccessService, SliceWrite } from '../decide/decide-service.ts'
import type { SourceService } from '../model.ts'
import { type Namespaces, watchNamespaces } from '../namespaces.ts'
import { OWN_SLICES, type OwnSlice, ownSlice, SYNC_MANAGER } from '../own-slice.ts'
import { reasonOf } from '../source/open-source.ts'
import { accessService, type AccessServiceRecord, serviceBody } from './access-records.ts'

/** What became of a write. `sentAt` and `acceptedAt` are instants of this process. */
export type WriteOutcome =
  | { readonly is: 'accepted'; readonly sentAt: number; readonly acceptedAt: number }
  /** The object was another one than the decision was about, and was read anew. */
  | { readonly is: 'outdated' }
  | { readonly is: 'failed'; readonly because: Reason }

export type AccessState =
  | { readonly is: 'listing' | 'current'; readonly sinceAt: number }
  | { readonly is: 'away'; readonly sinceAt: number; readonly because: Reason }

/** The access cluster: the slices of sync, and the Services that they are for. */
export interface Access {
  /** True where the records are current, so that a decision may be made. */
  isCurrent(namespace: string): boolean
  state(): AccessState
  serviceOf(namespace: string, name: string): AccessService | undefined
  /** Undefined where it is not known yet. */
  isNamespaceMissing(namespace: string): boolean | undefined
  /** The slices of this sync. */
  slicesOf(namespace: string, service: string): OwnSlice[]
  /** The slices of other syncs. */
  slicesOfOthers(namespace: string, service: string): OwnSlice[]
  /** The slices of this sync, of all Services. */
  ownSlices(namespace: string): OwnSlice[]
  isTaken(namespace: string, service: string, name: string): boolean
  /** The slices of other writers that have a name which sync would give. */
  foreign(namespace: string): ReadonlyMap<string, string | undefined>
  isAltered(slice: OwnSlice, body: object): boolean
  /** The slices that the access cluster stores otherwise than they were written. */
  altered(namespace: string, service: string): string[]
  write(namespace: string, write: SliceWrite): Promise<WriteOutcome>
  makeService(namespace: string, name: string, service: SourceService): Promise<WriteOutcome>
  refresh(): Promise<void>
  ended: Promise<unknown>
}

export interface AccessPorts {
  client: KubeClient
  services: ReadonlyMap<string, ReadonlySet<string>>
  /** The name of this sync in its slices. Absent: the slices of all syncs are its own. */
  instance?: string | undefined
  /** This process never writes. Without `instance`, it takes itself for the sync with the most slices of the Services. */
  isReader?: boolean | undefined
  clock: Clock
  random: Random
  signal: AbortSignal
  bound: Bound
  /** Throws where this process may not write now. */
  assertLeader(): void
  /** Called with each change of a Service or its slices; without a service, of a whole namespace. */
  onChange(namespace: string, service?: string): void
  /** Called where a slice was changed or deleted by somebody else than this process. */
  onForeignWrite(slice: OwnSlice, was: 'changed' | 'deleted'): void
}

interface Scope {
  readonly slices: Collection<OwnSlice>
  readonly services: Collection<AccessServiceRecord>
  readonly serviceOf: Map<string, AccessServiceRecord>
  readonly foreign: Map<string, string | undefined>
}

/** What this process has written, and what the access cluster has stored of it. */
interface Written {
  readonly service: string
  readonly asked: string
  readonly stored: string
}

const WRITE_DEADLINE_MS = 10_000

export function openAccess(ports: AccessPorts): Access {
  const { client, services, isReader, clock, random, signal, bound, assertLeader, onChange, onForeignWrite } = ports
  const namespaces: Namespaces = watchNamespaces(client, clock, signal, onChange)
  /** UIDs of slices that are gone, and whose deletion the watch has not told yet. */
  const gone = new Set<string>()
  const written = new Map<string, Written>()
  /** The UIDs of slices whose write is under way: the watch may tell of it before its answer comes. */
  const writing = new Set<string>()
  const scopes = new Map([...services.keys()].map((namespace) => [namespace, openScope(namespace)]))
  let state: AccessState = { is: 'listing', sinceAt: clock.now() }

  function openScope(namespace: string): Scope {
    const within = `namespaces/${encodeURIComponent(namespace)}`

    function takeSlice({ type, record }: ReflectorEvent<OwnSlice>): void {
      const mine = writing.has(record.uid) ? undefined : written.get(record.uid)
      if (type === 'deleted') {
        if (!gone.delete(record.uid) && mine !== undefined) onForeignWrite(record, 'deleted')
        written.delete(record.uid)
      } else if (mine !== undefined && mine.stored !== contentOf(record)) {
        written.delete(record.uid)
        onForeignWrite(record, 'changed')
      }
      onChange(namespace, record.service)
      // The label may have been another one.
      if (mine !== undefined && mine.service !== record.service) onChange(namespace, mine.service)
    }

    function takeService({ type, record }: ReflectorEvent<AccessServiceRecord>): void {
      if (type !== 'deleted') serviceOf.set(record.name, record)
      else if (serviceOf.get(record.name)?.uid === record.uid) serviceOf.delete(record.name)
      onChange(namespace, record.name)
    }

    const common = {
      client,
      clock,
      random,
      signal,
      onState: () => onChange(namespace),
      onCurrent: () => onChange(namespace),
    }
    const serviceOf = new Map<string, AccessServiceRecord>()
    return {
      serviceOf,
      foreign: new Map(),
      slices: openCollection({
        ...common,
        path: slicesPath(namespace),
        labelSelector: OWN_SLICES,
        decode: ownSlice,
        onEvent: takeSlice,
      }),
      services: openCollection({
        ...common,
        path: `/api/v1/${within}/services`,
        decode: accessService,
        onEvent: takeService,
      }),
    }
  }

  function collections(): Collection<ObjectRecord>[] {
    return [...scopes.values()].flatMap(({ slices, services: ofScope }): Collection<ObjectRecord>[] => [slices, ofScope])
  }

  /** Reads a slice anew, so that the next decision is about what is there. */
  async function reread(namespace: string, name: string, uid: string | undefined): Promise<void> {
    const { slices, foreign } = scopes.get(namespace)!
    try {
      const raw = await client.get(`${slicesPath(namespace)}/${encodeURIComponent(name)}`, { signal })
      const manager = stringField(field(field(raw, 'metadata'), 'labels'), SLICE_MANAGED_BY)
      if (manager === SYNC_MANAGER) {
        const found = slices.observe(raw)
        if (uid !== undefined && found.uid !== uid) gone.add(uid)
        return
      }
      foreign.set(name, manager)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    if (uid !== undefined) gone.add(uid)
  }

  async function send(
    call: (options: WriteOptions) => Promise<unknown>,
  ): Promise<{ answer: unknown; sentAt: number; acceptedAt: number }> {
    const leave = await bound.enter()
    try {
      assertLeader()
      let sentAt = clock.now()
      const answer = await call({
        once: true,
        deadlineMs: WRITE_DEADLINE_MS,
        beforeSend() {
          assertLeader()
          sentAt = clock.now()
        },
      })
      return { answer, sentAt, acceptedAt: clock.now() }
    } finally {
      leave()
    }
  }

  /** A write that was refused over its version, or that may have arrived, is followed by a reading. */
  async function settle(error: unknown, namespace: string, name: string, uid: string | undefined): Promise<WriteOutcome> {
    const isOutdated = isConflict(error) || (uid !== undefined && isNotFound(error))
    const isAmbiguous = error instanceof KubeError && error.kind === 'ambiguous'
    if (isOutdated || isAmbiguous) {
      try {
        await reread(namespace, name, uid)
        if (isOutdated) return { is: 'outdated' }
      } catch (unread) {
        return { is: 'failed', because: reasonOf(unread) }
      }
    }
    return { is: 'failed', because: reasonOf(error) }
  }

  async function write(namespace: string, { effect, name, former, body }: SliceWrite): Promise<WriteOutcome> {
    const { slices } = scopes.get(namespace)!
    const path = `${slicesPath(namespace)}/${encodeURIComponent(name)}`
    if (former !== undefined) writing.add(former.uid)
    try {
      if (effect === 'delete') {
        const { resourceVersion, uid } = former!
        const { sentAt, acceptedAt } = await send((options) => client.delete(path, { ...options, resourceVersion }))
        gone.add(uid)
        return { is: 'accepted', sentAt, acceptedAt }
      }
      const { answer, ...times } = await send((options) =>
        effect === 'create' ? client.create(slicesPath(namespace), body, options) : client.replace(path, body, options),
      )
      const stored = ownSlice(answer)
      written.set(stored.uid, { service: stored.service, asked: contentOfBody(body!), stored: contentOf(stored) })
      slices.observe(answer)
      return { is: 'accepted', ...times }
    } catch (error) {
      return await settle(error, namespace, name, former?.uid)
    } finally {
      if (former !== undefined) writing.delete(former.uid)
    }
  }

  async function makeService(namespace: string, name: string, service: SourceService): Promise<WriteOutcome> {
    const { services: known, serviceOf } = scopes.get(namespace)!
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services`
    try {
      const { answer, ...times } = await send((options) => client.create(path, serviceBody(namespace, name, service), options))
      const record = known.observe(answer)
      serviceOf.set(record.name, record)
      return { is: 'accepted', ...times }
    } catch (error) {
      // The watch brings a Service that is there already.
      return { is: 'failed', because: reasonOf(error) }
    }
  }

  /** The test for the slices of this sync. */
  function ownerTest(): (slice: OwnSlice) => boolean {
    const instance = ports.instance ?? (isReader === true ? mostFrequentInstance() : undefined)
    return (slice) => instance === undefined || slice.instance === undefined || slice.instance === instance
  }

  function mostFrequentInstance(): string | undefined {
    const counts = new Map<string, number>()
    for (const [namespace, names] of services)
      for (const { service, instance } of allSlices(namespace))
        if (instance !== undefined && names.has(service)) counts.set(instance, (counts.get(instance) ?? 0) + 1)
    const [most] = [...counts].sort(([one, count], [other, more]) => more - count || (one < other ? -1 : 1))
    return most?.[0]
  }

  function allSlices(namespace: string): OwnSlice[] {
    const { slices } = scopes.get(namespace)!
    return [...slices.records().values()].filter(
      ({ uid, metadata }) => !gone.has(uid) && metadata.deletionTimestamp === undefined,
    )
  }

  function ownSlices(namespace: string): OwnSlice[] {
    return allSlices(namespace).filter(ownerTest())
  }

  function lookAtState(): AccessState {
    const states = collections().map((one) => one.state())
    const away = states.find((one) => 'because' in one)
    const is = away !== undefined ? 'away' : states.every((one) => one.is === 'current') ? 'current' : 'listing'
    const sinceAt = state.is === is ? state.sinceAt : clock.now()
    state =
      away !== undefined ? { is: 'away', sinceAt, because: reasonOf(away.because) } : { is: is as 'listing' | 'current', sinceAt }
    return state
  }

  return {
    isCurrent(namespace) {
      const { slices, services: known } = scopes.get(namespace)!
      return slices.isCurrent() && known.isCurrent()
    },
    state: lookAtState,
    serviceOf: (namespace, name) => scopes.get(namespace)!.serviceOf.get(name)?.service,
    isNamespaceMissing: (namespace) => namespaces.isMissing(namespace),
    ownSlices,
    slicesOf: (namespace, service) => ownSlices(namespace).filter((slice) => slice.service === service),
    slicesOfOthers(namespace, service) {
      const isOwn = ownerTest()
      return allSlices(namespace).filter((slice) => slice.service === service && !isOwn(slice))
    },
    isTaken(namespace, service, name) {
      const { foreign } = scopes.get(namespace)!
      const isOwn = ownerTest()
      return (
        foreign.has(name) ||
        allSlices(namespace).some((slice) => slice.name === name && (slice.service !== service || !isOwn(slice)))
      )
    },
    foreign: (namespace) => scopes.get(namespace)!.foreign,
    isAltered(slice, body) {
      const mine = written.get(slice.uid)
      return mine !== undefined && mine.asked === contentOfBody(body) && mine.stored === contentOf(slice)
    },
    altered: (namespace, service) =>
      ownSlices(namespace)
        .filter(({ uid }) => {
          const mine = written.get(uid)
          return mine !== undefined && mine.service === service && mine.asked !== mine.stored
        })
        .map(({ name }) => name)
        .sort(),
    write,
    makeService,
    async refresh() {
      await Promise.all(collections().map((one) => one.refresh()))
    },
    ended: Promise.all(collections().map((one) => one.ended)),
  }
}

function slicesPath(namespace: string): string {
  return `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`
}

/** The fields of a slice that sync decides, as a text. */
function contentOf({ addressType, ports, copies, hasMore, metadata }: OwnSlice): string {
  const { labels = {}, annotations = {}, ownerReferences = [] } = metadata
  return JSON.stringify([
    addressType,
    ports,
    copies,
    hasMore,
    sorted(labels),
    sorted(annotations),
    ownerReferences.map(({ uid }) => uid),
  ])
}

function contentOfBody(body: object): string {
  const { metadata } = body as { metadata: object }
  return contentOf(ownSlice({ ...body, metadata: { uid: '', resourceVersion: '', ...metadata } }))
}

function sorted(entries: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(entries).sort(([one], [other]) => (one < other ? -1 : 1))
}
