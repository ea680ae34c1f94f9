import type { AddressType } from '../../endpoints/objects.ts'
import type { SourceService, SourceView, SyncedService, WantedEndpoint } from '../model.ts'
import { type OwnSlice, SOURCE_UID } from '../own-slice.ts'
import type { SyncProblem } from '../problems.ts'
import type { WriteEffect } from '../sync-run.ts'
import { packSlices } from './pack-slices.ts'
import { portsKey } from './ports-key.ts'
import { hasOwnMetadata, sliceBody, type SliceContent, sliceName, type SliceOwner } from './slice-body.ts'
import { sourceTargets, type Targets, withoutTwins } from './source-targets.ts'

/** The Service in the access cluster. */
export interface AccessService {
  readonly uid: string
  readonly type?: string
  readonly selector?: Readonly<Record<string, string>>
  readonly ports: readonly { readonly name?: string }[]
  /** The families of its addresses, where the API server states them. */
  readonly families?: readonly AddressType[]
  readonly isBeingDeleted: boolean
}

export interface Question {
  readonly service: SyncedService
  /** `absent`: the namespace is there. */
  readonly access: { readonly is: 'present'; readonly service: AccessService } | { readonly is: 'absent' | 'without-namespace' }
  readonly views: ReadonlyMap<string, SourceView>
  /** The UIDs of the source clusters, where they are known. */
  readonly uids: ReadonlyMap<string, string>
  /** The sync that decides. */
  readonly instance?: string
  /** The slices of this sync in the access cluster for this Service. */
  readonly slices: readonly OwnSlice[]
  /** Reports whether a name in the namespace belongs to a slice of another Service or another writer. */
  isTaken(name: string): boolean
  /** Reports whether the access cluster turns this content of the slice into the content that it has now. */
  isAltered(slice: OwnSlice, body: object): boolean
  /** The instant of the monotonic clock. */
  readonly now: number
}

export interface SliceWrite {
  readonly effect: WriteEffect
  readonly source: string
  readonly name: string
  /** The slice as it is. Absent for `create`. */
  readonly former?: OwnSlice
  /** The slice as it is to be. Absent for `delete`. */
  readonly body?: object
  readonly endpoints: number
  /** The names of the slices that have to be written first, since an endpoint moves from here to there. */
  readonly after: readonly string[]
}

type UnorderedWrite = Omit<SliceWrite, 'after'>

export interface Decision {
  readonly writes: readonly SliceWrite[]
  /** The Service to make in the access cluster. There are no writes besides. */
  readonly make?: { readonly from: string; readonly service: SourceService }
  readonly problems: readonly SyncProblem[]
  /** The instant at which time alone changes the decision. */
  readonly nextAt?: number
}

/** Decides about one Service. The same question gets the same answer, and the answer to a question after the writes has none. */
export function decideService(question: Question): Decision {
  const { service, access, views, slices, now } = question
  const targets = sourceTargets(service, views, now)
  const next = targets.nextAt === undefined ? {} : { nextAt: targets.nextAt }
  if (access.is !== 'present') return { ...withoutService(question, targets), ...next }
  const { uid, type, selector = {}, isBeingDeleted } = access.service
  // The slices go with the Service.
  if (isBeingDeleted) return { writes: [], problems: targets.problems, ...next }
  if (type === 'ExternalName') return { writes: [], problems: [...targets.problems, { code: 'service-external-name' }], ...next }
  const isSelected = Object.keys(selector).length > 0
  const { of: wanted, problems: twins } = withoutTwins(service, targets.of, slices)
  const ofSources = service.sources.flatMap((source) => {
    const some = wanted.get(source)
    if (some === undefined) return []
    const held = slices.filter((one) => one.source === source)
    const sourceUid = question.uids.get(source)
    const owner: SliceOwner = {
      namespace: service.namespace,
      service: service.name,
      serviceUid: uid,
      source,
      ...(question.instance === undefined ? {} : { instance: question.instance }),
      ...(sourceUid === undefined ? {} : { sourceUid: ofContent(views.get(source), held, sourceUid) }),
    }
    return writesOf(question, owner, held, isSelected ? withoutNew(some, held) : some)
  })
  const unnamed = unnamedSources(question)
  return {
    writes: inOrder(ofSources, unnamed.removals),
    problems: [
      ...targets.problems,
      ...unnamed.problems,
      ...(isSelected ? [{ code: 'service-has-selector' as const, selector }] : []),
      ...twins,
      ...externalNames(service, views),
      ...differingPorts(service, views),
      ...unservedFamilies(access.service, wanted),
      ...unservedPorts(access.service, wanted),
    ],
    ...next,
  }
}

interface UnnamedSources {
  readonly removals: readonly UnorderedWrite[]
  readonly problems: readonly SyncProblem[]
}

/**
 * Finds the slices of sources that the config does not name for the Service. A source may have got another name: the slices go once all
 * sources that are named are known, after their copies are written.
 */
function unnamedSources({ service, views, slices }: Question): UnnamedSources {
  const former = slices.filter(({ source }) => !service.sources.includes(source))
  const unknown = service.sources.filter((source) => !isKnown(views.get(source)))
  if (unknown.length === 0) return { removals: former.map(removal), problems: [] }
  const problems = [...Map.groupBy(former, ({ source }) => source)].map(([source, some]) => ({
    code: 'source-unnamed' as const,
    source,
    slices: some.map(({ name }) => name).sort(),
    unknown,
  }))
  return { removals: [], problems }
}

function isKnown(view: SourceView | undefined): boolean {
  return view?.is === 'known' || view?.is === 'without'
}

/** While a source is away, its copies stay those of the cluster that they are from. */
function ofContent(view: SourceView | undefined, held: readonly OwnSlice[], uid: string): string {
  if (view?.is !== 'away') return uid
  return held[0]?.metadata.annotations?.[SOURCE_UID] ?? uid
}

function withoutService({ service, access, views, slices }: Question, targets: Targets): Decision {
  const problems = [...targets.problems, ...externalNames(service, views)]
  if (access.is === 'without-namespace') return { writes: [], problems: [...problems, { code: 'namespace-missing' }] }
  // Slices with an owner go with it. Those that a deletion has left behind have none.
  const orphans = inOrder(slices.filter(({ metadata }) => (metadata.ownerReferences ?? []).length === 0).map(removal))
  if (!service.create) return { writes: orphans, problems: [...problems, { code: 'service-missing' }] }
  for (const source of service.sources) {
    // Another source may list sooner. The ports are those of the first one in the config.
    if (views.get(source)?.is === 'listing') return { writes: orphans, problems }
    const found = serviceOf(views.get(source))
    if (found === undefined || found.isExternalName) continue
    const differing = differingPorts(service, views)
    return { writes: [], make: { from: source, service: found }, problems: [...problems, ...differing] }
  }
  return { writes: orphans, problems: [...problems, { code: 'service-unmade' }] }
}

function serviceOf(view: SourceView | undefined): SourceService | undefined {
  if (view?.is === 'known') return view.service
  return view?.is === 'away' ? view.last?.service : undefined
}

/** A Service with a selector has endpoints of its own: the copies that it has may go, and no other comes. */
function withoutNew(endpoints: readonly WantedEndpoint[], held: readonly OwnSlice[]): WantedEndpoint[] {
  const known = new Set(
    held.flatMap(({ addressType, portsKey: key, copies }) => copies.map(({ address }) => `${addressType} ${key} ${address}`)),
  )
  return endpoints.filter(({ addressType, ports, address }) => known.has(`${addressType} ${portsKey(ports)} ${address}`))
}

function writesOf(
  question: Question,
  owner: SliceOwner,
  held: readonly OwnSlice[],
  wanted: readonly WantedEndpoint[],
): UnorderedWrite[] {
  const names = new Set(question.slices.map(({ name }) => name))
  const writes: UnorderedWrite[] = []
  for (const { slice, isChanged, ...content } of packSlices(held, wanted)) {
    if (slice !== undefined) {
      if (content.copies.length === 0) writes.push(removal(slice))
      else if (isChanged || !hasOwnMetadata(slice, owner)) {
        const body = sliceBody(slice.name, owner, content, slice)
        if (!question.isAltered(slice, body)) writes.push(written('update', owner, slice.name, content, body, slice))
      }
      continue
    }
    const group = `${content.addressType} ${portsKey(content.ports)}`
    const name = sliceName(owner, group, (one) => names.has(one) || question.isTaken(one))
    names.add(name)
    writes.push(written('create', owner, name, content, sliceBody(name, owner, content)))
  }
  return writes
}

function written(
  effect: 'create' | 'update',
  { source }: SliceOwner,
  name: string,
  { copies }: SliceContent,
  body: object,
  former?: OwnSlice,
): UnorderedWrite {
  return { effect, source, name, ...(former === undefined ? {} : { former }), body, endpoints: copies.length }
}

function removal(slice: OwnSlice): UnorderedWrite {
  return { effect: 'delete', source: slice.source, name: slice.name, former: slice, endpoints: 0 }
}

/**
 * An endpoint that moves is written where it goes before it is taken from where it was, in slices of all sources: no reader misses it in
 * between. The removals come after all that is written.
 */
function inOrder(writes: readonly UnorderedWrite[], removals: readonly UnorderedWrite[] = []): SliceWrite[] {
  const gainedBy = new Map<string, string>()
  const before = writes.map(({ former }) => addressesOf(former))
  const after = writes.map(({ body }) => addressesIn(body))
  writes.forEach(({ name }, index) => {
    for (const address of after[index]!) if (!before[index]!.has(address)) gainedBy.set(address, name)
  })
  const waitsFor = new Map<string, string[]>()
  /** Two slices whose endpoints change places do not wait for each other. */
  function isWaiting(name: string, other: string): boolean {
    const waiting = new Set([name])
    for (const one of waiting) for (const next of waitsFor.get(one) ?? []) waiting.add(next)
    return waiting.has(other)
  }
  const ordered = writes.map((write, index) => {
    const lost = [...before[index]!].filter((address) => !after[index]!.has(address))
    const gaining = new Set(lost.flatMap((address) => gainedBy.get(address) ?? []))
    const first = [...gaining].filter((name) => name !== write.name && !isWaiting(name, write.name))
    waitsFor.set(write.name, first)
    return { ...write, after: first }
  })
  const all = writes.filter(({ effect }) => effect !== 'delete').map(({ name }) => name)
  return [...ordered, ...removals.map((removed) => ({ ...removed, after: all }))]
}

function addressesOf(slice: OwnSlice | undefined): Set<string> {
  return new Set(slice?.copies.map(({ address }) => `${slice.addressType} ${address}`))
}

function addressesIn(body: object | undefined): Set<string> {
  if (body === undefined) return new Set()
  const { addressType, endpoints } = body as { addressType: string; endpoints: { addresses: [string] }[] }
  return new Set(endpoints.map(({ addresses }) => `${addressType} ${addresses[0]}`))
}

function differingPorts({ sources }: SyncedService, views: ReadonlyMap<string, SourceView>): SyncProblem[] {
  const found = sources.flatMap((source) => {
    const service = serviceOf(views.get(source))
    return service === undefined ? [] : [{ source, ports: shownPorts(service) }]
  })
  const [first, ...others] = found
  return others.flatMap(({ source, ports }) =>
    ports.join() === first!.ports.join()
      ? []
      : [{ code: 'ports-differ' as const, source, ports, first: first!.source, firstPorts: first!.ports }],
  )
}

/** A Service of the type ExternalName has no endpoints, and none can be made from it. */
function externalNames({ sources }: SyncedService, views: ReadonlyMap<string, SourceView>): SyncProblem[] {
  return sources.flatMap((source) =>
    serviceOf(views.get(source))?.isExternalName ? [{ code: 'source-external-name' as const, source }] : [],
  )
}

/** Slices of a family that the Service does not have have no readers. */
function unservedFamilies({ families }: AccessService, wanted: ReadonlyMap<string, readonly WantedEndpoint[]>): SyncProblem[] {
  if (families === undefined) return []
  return [...wanted].flatMap(([source, endpoints]) => {
    const unserved = endpoints.filter(({ addressType }) => !families.includes(addressType))
    return [...Map.groupBy(unserved, ({ addressType }) => addressType)].map(([family, some]) => ({
      code: 'family-unserved' as const,
      source,
      family,
      count: some.length,
    }))
  })
}

/** Returns each port as `http 80/TCP`, with the protocol of the application where there is one. */
function shownPorts({ ports }: SourceService): string[] {
  return ports
    .map(({ name, port, protocol = 'TCP', appProtocol }) =>
      [...(name ? [name] : []), `${port}/${protocol}`, ...(appProtocol ? [appProtocol] : [])].join(' '),
    )
    .sort()
}

/** A Service finds the ports of its slices by their names. */
function unservedPorts({ ports }: AccessService, wanted: ReadonlyMap<string, readonly WantedEndpoint[]>): SyncProblem[] {
  return [...wanted].flatMap(([source, endpoints]) => {
    if (endpoints.length === 0) return []
    const served = new Set(endpoints.flatMap((one) => one.ports.map(({ name }) => name)))
    const unserved = ports.map(({ name = '' }) => name).filter((name) => !served.has(name))
    return unserved.length === 0 ? [] : [{ code: 'ports-unserved' as const, source, ports: unserved, has: [...served].sort() }]
  })
}
