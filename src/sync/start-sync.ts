import { createBound } from '../kube/bound.ts'
import { isConflict } from '../kube/errors.ts'
import { electLeader, type Leader, TAKEN_AFTER_MS } from '../leadership/leader.ts'
import { openAccess } from './access/open-access.ts'
import { createServiceWork, type ServiceWork } from './run/service-work.ts'
import { openSource, reasonOf, type Source } from './source/open-source.ts'
import type { SourceProblem } from './problems.ts'
import type { SourceStatus, SyncOptions, SyncRun } from './sync-run.ts'

/** The most writes that are under way at once. */
const WRITES_AT_ONCE = 16

/**
 * Copies the endpoints of the Services from the sources into the access cluster until the signal. All replicas watch; the one that leads
 * writes. A new leader lists the sources anew before it writes about them, since the former one may have known more.
 */
export function startSync(options: SyncOptions): SyncRun {
  const { services, access: client, clock, random, signal, lease, isReader, onEvent } = options
  const emit: NonNullable<SyncOptions['onEvent']> = (event) => {
    if (!signal.aborted) onEvent?.(event)
  }
  const instance = options.instance ?? (lease && `${lease.namespace}/${lease.name}`)
  const namespaces = namesBy(services.map((service) => [service.namespace, service.name]))
  const works = new Map<string, ServiceWork>()
  const sources = new Map<string, Source>()
  /** The last state of each source, and what was told last about it. */
  const toldOf = new Map<
    string,
    { is: SourceStatus['is']; at: number; told: SourceStatus['is']; problems: readonly SourceProblem[] }
  >()
  let toldAccess: SourceStatus['is'] | undefined
  /** The failure of the Lease that was told last. */
  let toldLease = ''
  /** The sources that were listed since this process leads. */
  const fresh = new Set<string>()
  let leader: Leader | undefined
  let term = 0

  const isLeading = (): boolean => !signal.aborted && isReader !== true && (lease === undefined || leader?.isLeader() === true)

  function workOf(namespace: string, service: string | undefined): ServiceWork[] {
    if (service === undefined) return [...works].flatMap(([key, work]) => (key.startsWith(`${namespace}/`) ? [work] : []))
    const work = works.get(`${namespace}/${service}`)
    return work === undefined ? [] : [work]
  }

  const access = openAccess({
    client,
    services: namespaces,
    instance,
    isReader,
    clock,
    random,
    signal,
    bound: createBound(WRITES_AT_ONCE),
    assertLeader: () => leader?.assertLeader(),
    onChange(namespace, service) {
      if (service === undefined) tellAccess()
      for (const work of workOf(namespace, service)) work.unblock()
    },
    onForeignWrite(slice, was) {
      if (isLeading()) for (const work of workOf(slice.namespace, slice.service)) work.noteForeignWrite(slice, was)
    },
  })

  for (const service of services) {
    const work = createServiceWork({
      service,
      sources,
      access,
      instance,
      clock,
      random,
      signal,
      isLeading,
      isFresh: (source) => lease === undefined || fresh.has(source) || !isLeading(),
      emit,
    })
    works.set(`${service.namespace}/${service.name}`, work)
  }

  for (const cluster of options.sources) {
    const some = services.filter((service) => service.sources.includes(cluster.name))
    if (some.length === 0) continue
    const { name } = cluster
    const source = openSource({
      cluster,
      services: namesBy(some.map((service) => [service.namespace, service.name])),
      clock,
      random,
      signal,
      onChange(namespace, service, change) {
        if (service === undefined) tellSource(name)
        for (const work of workOf(namespace, service)) {
          // What the first lists bring has changed before.
          if (change !== undefined && toldOf.get(name)?.is === 'current') work.see(name, change)
          work.mark()
        }
      },
    })
    sources.set(name, source)
    tellSource(name)
  }

  function tellSource(name: string): void {
    const source = sources.get(name)
    if (source === undefined) return
    const state = source.state()
    const before = toldOf.get(name)
    const now = source.problems()
    const isNews = isTold(before?.told, state.is)
    toldOf.set(name, {
      is: state.is,
      at: before?.is === state.is ? before.at : clock.now(),
      told: isNews ? state.is : before!.told,
      problems: now,
    })
    if (isNews) emit({ type: 'source', source: name, is: state.is, ...(state.is === 'away' ? { because: state.because } : {}) })
    const former = before?.problems ?? []
    for (const problem of now)
      if (!former.some(({ code }) => code === problem.code)) emit({ type: 'source-problem', is: 'begun', source: name, problem })
    for (const problem of former)
      if (!now.some(({ code }) => code === problem.code)) emit({ type: 'source-problem', is: 'over', source: name, problem })
  }

  function tellAccess(): void {
    const state = access.state()
    if (!isTold(toldAccess, state.is)) return
    toldAccess = state.is
    emit({ type: 'access', is: state.is, ...(state.is === 'away' ? { because: state.because } : {}) })
  }

  function markAll(): void {
    for (const work of works.values()) work.mark()
  }

  async function freshen(source: Source, of: number): Promise<void> {
    await source.refresh()
    if (of !== term || signal.aborted) return
    fresh.add(source.name)
    markAll()
  }

  function tellLease(error: Error): void {
    // Another replica was faster.
    if (lease === undefined || isConflict(error)) return
    const because = reasonOf(error)
    const key = JSON.stringify(because)
    if (key === toldLease) return
    toldLease = key
    emit({ type: 'lease-failed', lease: `${lease.namespace}/${lease.name}`, because })
  }

  function lead(isLeader: boolean): void {
    term += 1
    toldLease = ''
    fresh.clear()
    emit({ type: 'leader', isLeader })
    if (isLeader) for (const source of sources.values()) void freshen(source, term)
    else for (const work of works.values()) work.forgetWritten()
    markAll()
  }

  async function idle(): Promise<void> {
    await Promise.all([...works.values()].map((work) => work.idle()))
  }

  if (lease !== undefined) {
    emit({ type: 'lease-awaited', lease: `${lease.namespace}/${lease.name}`, afterMs: TAKEN_AFTER_MS })
    leader = electLeader({ client, clock, random, signal, ...lease, onChange: lead, onError: tellLease, beforeRelease: idle })
  }

  async function end(): Promise<void> {
    await access.ended
    await Promise.all([...sources.values()].map((source) => source.ended))
    await idle()
    await leader?.ended
  }

  return {
    snapshot() {
      const state = access.state()
      const statuses = [...works.values()].map((work) => work.status())
      return {
        isLeader: isLeading(),
        isSettled: [...works.values()].every((work) => work.isSettled()),
        access: {
          is: state.is,
          sinceMs: clock.now() - state.sinceAt,
          ...(state.is === 'away' ? { because: state.because } : {}),
        },
        sources: [...sources.values()].map((source) => statusOf(source, clock.now() - toldOf.get(source.name)!.at)),
        services: statuses,
        leftBehind: [...namespaces].flatMap(([namespace, names]) => {
          const others = access.ownSlices(namespace).filter(({ service }) => !names.has(service))
          return [...Map.groupBy(others, ({ service }) => service)].map(([service, slices]) => ({
            namespace,
            service,
            slices: slices.map(({ name }) => name).sort(),
          }))
        }),
      }
    },
    ended: end(),
  }
}

/** A watch ends every few minutes, and the next one is current a moment later: that is no news. */
function isTold(told: SourceStatus['is'] | undefined, is: SourceStatus['is']): boolean {
  return told !== is && !(told === 'current' && is === 'listing')
}

function statusOf(source: Source, sinceMs: number): SourceStatus {
  const state = source.state()
  const uid = source.cluster()?.uid
  const offset = source.offset()
  return {
    name: source.name,
    is: state.is,
    sinceMs,
    ...(state.is === 'away' ? { because: state.because } : {}),
    ...(uid === undefined ? {} : { clusterUid: uid }),
    ...(offset === undefined ? {} : { clock: offset }),
    problems: source.problems(),
  }
}

function namesBy(pairs: readonly [namespace: string, name: string][]): ReadonlyMap<string, ReadonlySet<string>> {
  const by = Map.groupBy(pairs, ([namespace]) => namespace)
  return new Map([...by].map(([namespace, some]) => [namespace, new Set(some.map(([, name]) => name))]))
}
