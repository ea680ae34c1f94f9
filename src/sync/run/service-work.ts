import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { Access, WriteOutcome } from '../access/open-access.ts'
import { type Decision, decideService, type SliceWrite } from '../decide/decide-service.ts'
import type { SourceContent, SourceView, SyncedService } from '../model.ts'
import { type OwnSlice, SOURCE_UID } from '../own-slice.ts'
import type { SyncProblem } from '../problems.ts'
import type { Source, SourceChange } from '../source/open-source.ts'
import type { ServiceStatus, SyncEvent } from '../sync-run.ts'
import { type DecidedChanges, createSeenChanges } from './seen-changes.ts'
import { createTokenBucket } from './token-bucket.ts'

/** The work on one Service: it is decided and written anew whenever something has changed, one decision at a time. */
export interface ServiceWork {
  /** Something has changed that the decision is made from. */
  mark(): void
  /** A source has changed: the change is timed on its way. */
  see(source: string, change: SourceChange): void
  /** The access cluster has changed: a failed write may succeed now. */
  unblock(): void
  /** Somebody else has written a slice of this process. */
  noteForeignWrite(slice: OwnSlice, was: 'changed' | 'deleted'): void
  /** This process leads no longer: another one may write what this process does not know. */
  forgetWritten(): void
  /** True once a decision was made with what all sources say. */
  isSettled(): boolean
  status(): ServiceStatus
  /** After the signal: resolves once nothing is under way. */
  idle(): Promise<void>
}

export interface WorkPorts {
  service: SyncedService
  sources: ReadonlyMap<string, Source>
  access: Access
  /** The name of this sync in its slices. */
  instance?: string | undefined
  clock: Clock
  random: Random
  signal: AbortSignal
  isLeading(): boolean
  /** False where this process leads, and the source was not listed since then. */
  isFresh(source: string): boolean
  emit(event: SyncEvent): void
}

const FIRST_AGAIN_MS = 250
const LONGEST_AGAIN_MS = 30_000
/** Node fires a timer with a longer delay at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export function createServiceWork(ports: WorkPorts): ServiceWork {
  const { service, sources, access, instance, clock, random, signal, isLeading, isFresh, emit } = ports
  const { namespace, name } = service
  const of = { namespace, service: name }
  const seen = createSeenChanges(clock)
  const bucket = createTokenBucket(clock)
  /** What this process has written last as the leader, by source. */
  const written = new Map<string, SourceContent>()
  let running: Promise<void> | undefined
  let isDirty = false
  let isBlocked = false
  let failures = 0
  let waking: unknown
  let blocking: unknown
  let hasSettled = false
  let pendingSince: number | undefined
  let failure: SyncProblem | undefined
  let problems = new Map<string, SyncProblem>()
  /** The sources that are being listed. */
  let listing: ReadonlySet<string> = new Set()
  let foreignWrites: { slice: OwnSlice; was: 'changed' | 'deleted' }[] = []

  function mark(): void {
    isDirty = true
    if (running !== undefined || isBlocked || signal.aborted) return
    // The changes of one moment are decided together.
    running = Promise.resolve()
      .then(run)
      .finally(() => {
        running = undefined
        if (mayDecide()) mark()
      })
  }

  async function run(): Promise<void> {
    while (mayDecide()) {
      isDirty = false
      await pass()
    }
  }

  function mayDecide(): boolean {
    return isDirty && !isBlocked && !signal.aborted
  }

  function block(ms: number): void {
    isBlocked = true
    isDirty = true
    clock.clearTimeout(blocking)
    blocking = clock.setTimeout(unblock, ms)
  }

  function unblock(): void {
    clock.clearTimeout(blocking)
    isBlocked = false
    mark()
  }

  function wakeAt(at: number | undefined): void {
    clock.clearTimeout(waking)
    if (at === undefined || signal.aborted) return
    waking = clock.setTimeout(mark, Math.min(LONGEST_TIMER_MS, Math.max(1, at - clock.now())))
  }

  async function pass(): Promise<void> {
    if (!access.isCurrent(namespace)) return
    const slices = access.slicesOf(namespace, name)
    const views = new Map(service.sources.map((source) => [source, viewOf(source, slices)]))
    const decision = decide(slices, views)
    listing = new Set([...views].flatMap(([source, { is }]) => (is === 'listing' ? [source] : [])))
    hasSettled ||= isKnown(views)
    wakeAt(decision.nextAt)
    const hasWork = decision.writes.length > 0 || decision.make !== undefined
    if (!isLeading()) {
      pendingSince = hasWork ? (pendingSince ?? clock.now()) : undefined
      failure = undefined
      return tellProblems(decision)
    }
    if (!hasWork) {
      seen.take()
      succeed(views)
      return tellProblems(decision)
    }
    pendingSince ??= clock.now()
    tellProblems(decision)
    const waitMs = bucket.take()
    if (waitMs > 0) return block(waitMs)
    tellForeignWrites(decision)
    const changes = seen.take()
    const outcomes = decision.make === undefined ? await writeAll(decision.writes, changes) : [await make(decision.make)]
    // A write that was accepted moves the state on, and the next decision finds nothing left to do.
    isDirty = true
    if (outcomes.every(({ is }) => is === 'accepted')) {
      failures = 0
      failure = undefined
      return
    }
    changes.giveBack()
    retry(outcomes, decision)
  }

  /** True where the problems can be told, and not only the writes. */
  function isKnown(views: ReadonlyMap<string, SourceView>): boolean {
    return (
      (access.serviceOf(namespace, name) !== undefined || access.isNamespaceMissing(namespace) !== undefined) &&
      [...views].every(
        ([source, { is }]) => is !== 'listing' && (is !== 'without' || sources.get(source)!.isNamespaceKnown(namespace)),
      )
    )
  }

  function decide(slices: OwnSlice[], views: ReadonlyMap<string, SourceView>): Decision {
    const found = access.serviceOf(namespace, name)
    const uids = new Map(service.sources.flatMap((source) => entryOf(source, sources.get(source)?.cluster()?.uid)))
    return decideService({
      service,
      access:
        found !== undefined
          ? { is: 'present', service: found }
          : { is: access.isNamespaceMissing(namespace) === true ? 'without-namespace' : 'absent' },
      views,
      uids,
      ...(instance === undefined ? {} : { instance }),
      slices,
      isTaken: (one) => access.isTaken(namespace, name, one),
      isAltered: access.isAltered,
      now: clock.now(),
    })
  }

  function viewOf(source: string, slices: readonly OwnSlice[]): SourceView {
    const from = sources.get(source)
    if (from === undefined) return { is: 'listing' }
    const view = from.view(namespace, name)
    if (view.is === 'listing') return view
    if (view.is === 'away') {
      const last = written.get(source)
      return last === undefined ? view : { ...view, last }
    }
    if (!isFresh(source)) return { is: 'listing' }
    const now: SourceContent = view.is === 'known' ? view : { endpoints: [] }
    const held = slices.filter((slice) => slice.source === source)
    const hasCopies = held.some(({ copies }) => copies.length > 0)
    // A cluster that was made anew has nothing at first. The cluster says which one it is before its copies are removed.
    if (hasCopies && now.endpoints.length === 0 && !from.isConfirmed(namespace, name)) return { is: 'listing' }
    const cluster = from.cluster()
    const isOther = held.some(({ metadata }) => {
      const former = metadata.annotations?.[SOURCE_UID]
      return cluster !== undefined && former !== undefined && former !== cluster.uid
    })
    return isOther ? { is: 'replaced', sinceAt: cluster!.sinceAt, now } : view
  }

  function succeed(views: ReadonlyMap<string, SourceView>): void {
    for (const [source, view] of views) {
      if (view.is === 'known') written.set(source, view)
      else if (view.is === 'without') written.set(source, { endpoints: [] })
    }
    pendingSince = undefined
    failures = 0
    failure = undefined
  }

  async function make({ from, service: found }: NonNullable<Decision['make']>): Promise<WriteOutcome> {
    const outcome = await access.makeService(namespace, name, found)
    if (outcome.is === 'accepted') emit({ type: 'service-made', ...of, from })
    return outcome
  }

  /** Sends the writes, at most one of each slice, and each one after those that it waits for. */
  async function writeAll(writes: readonly SliceWrite[], changes: DecidedChanges): Promise<WriteOutcome[]> {
    const byName = new Map(writes.map((write) => [write.name, write]))
    const started = new Map<string, Promise<WriteOutcome>>()

    function start(write: SliceWrite): Promise<WriteOutcome> {
      const known = started.get(write.name)
      if (known !== undefined) return known
      const outcome = writeAfter(write)
      started.set(write.name, outcome)
      return outcome
    }

    async function writeAfter(write: SliceWrite): Promise<WriteOutcome> {
      const before = await Promise.all(write.after.map((one) => start(byName.get(one)!)))
      if (before.some(({ is }) => is !== 'accepted')) return { is: 'outdated' }
      const outcome = await access.write(namespace, write)
      const { effect, source, name: slice, endpoints } = write
      if (outcome.is === 'accepted') {
        const lag = changes.lag(source, sources.get(source)?.offset(), outcome.sentAt, outcome.acceptedAt)
        emit({ type: 'written', effect, ...of, source, slice, endpoints, ...(lag === undefined ? {} : { lag }) })
      }
      return outcome
    }

    return Promise.all(writes.map(start))
  }

  function retry(outcomes: readonly WriteOutcome[], decision: Decision): void {
    if (!isLeading() || signal.aborted) return
    failures += 1
    const index = outcomes.findIndex(({ is }) => is === 'failed')
    const outcome = outcomes[index]
    // A decision about an outdated object is made again at once, and with pauses where that goes on.
    if (outcome === undefined && failures === 1) return
    const againMs = Math.min(LONGEST_AGAIN_MS, FIRST_AGAIN_MS * 2 ** (failures - 1)) * (0.5 + random.next() / 2)
    block(againMs)
    if (outcome?.is !== 'failed') return
    const { because } = outcome
    const write = decision.writes[index]
    failure = { code: 'write-failed', ...(write === undefined ? {} : { slice: write.name }), because }
    tellProblems(decision)
    if (write === undefined) return
    const { effect, source, name: slice } = write
    emit({ type: 'write-failed', effect, ...of, source, slice, because, againInMs: Math.round(againMs) })
  }

  function tellForeignWrites({ writes }: Decision): void {
    for (const { slice, was } of foreignWrites) {
      const isPutRight = writes.some(
        ({ effect, name: one, source }) =>
          source === slice.source && (was === 'changed' ? one === slice.name : effect !== 'delete'),
      )
      if (isPutRight) emit({ type: 'put-right', was, ...of, source: slice.source, slice: slice.name })
    }
    foreignWrites = []
  }

  function tellProblems(decision: Decision): void {
    const foreign = [...access.foreign(namespace)].filter(([slice]) => slice.startsWith(`${name}-`))
    const altered = access.altered(namespace, name)
    const others = Map.groupBy(access.slicesOfOthers(namespace, name), (slice) => slice.instance ?? '')
    const now = [
      ...[...problems.values()].filter(goesOn),
      ...decision.problems,
      ...[...others].map(([other, some]): SyncProblem => ({
        code: 'other-sync',
        instance: other,
        slices: some.map((slice) => slice.name).sort(),
      })),
      ...service.sources.flatMap((source): SyncProblem[] => {
        const slices = sources.get(source)?.uncopied(namespace, name) ?? []
        return slices.length === 0 ? [] : [{ code: 'addresses-uncopied', source, slices }]
      }),
      ...foreign.map(([slice, manager]): SyncProblem => ({
        code: 'foreign-slice',
        slice,
        ...(manager === undefined ? {} : { manager }),
      })),
      ...(altered.length === 0 ? [] : [{ code: 'altered-by-admission' as const, slices: altered }]),
      ...(failure === undefined ? [] : [failure]),
    ]
    const former = problems
    problems = new Map(now.map((problem) => [problemKey(problem), problem]))
    for (const [key, problem] of problems) if (!former.has(key)) tell('begun', problem)
    for (const [key, problem] of former) if (!problems.has(key)) tell('over', problem)
  }

  /** A source that is being listed has no known state, for a moment after each end of a watch. Its former problems still count. */
  function goesOn(problem: SyncProblem): boolean {
    if (!('source' in problem) || OF_ABSENCE.has(problem.code)) return false
    return listing.has(problem.source) || ('first' in problem && listing.has(problem.first))
  }

  function tell(is: 'begun' | 'over', problem: SyncProblem): void {
    // The source itself is told as away, once for all Services.
    if (problem.code !== 'source-away') emit({ type: 'problem', is, ...of, problem })
  }

  signal.addEventListener('abort', () => {
    clock.clearTimeout(waking)
    clock.clearTimeout(blocking)
  })

  return {
    mark,
    see: seen.see,
    unblock: () => (isBlocked && failures > 0 ? unblock() : mark()),
    noteForeignWrite: (slice, was) => void foreignWrites.push({ slice, was }),
    forgetWritten: () => written.clear(),
    isSettled: () => hasSettled,
    status() {
      const slices = access.slicesOf(namespace, name)
      return {
        namespace,
        name,
        sources: service.sources.map((source) => {
          const view = viewOf(source, slices)
          const held = slices.filter((slice) => slice.source === source)
          const copies = held.flatMap((slice) => slice.copies)
          const content = contentOf(view)
          return {
            source,
            is: view.is,
            ...(content === undefined ? {} : { wanted: content.endpoints.length }),
            slices: held.length,
            endpoints: copies.length,
            ready: copies.filter(({ conditions }) => conditions.ready).length,
            upgrading: content?.endpoints.filter(({ isUpgrading }) => isUpgrading).length ?? 0,
          }
        }),
        problems: [...problems.values()],
        isPending: pendingSince !== undefined,
        ...(pendingSince === undefined ? {} : { pendingForMs: clock.now() - pendingSince }),
      }
    },
    idle: async () => running,
  }
}

function contentOf(view: SourceView): SourceContent | undefined {
  if (view.is === 'known') return view
  if (view.is === 'without') return { endpoints: [] }
  return view.is === 'replaced' ? view.now : undefined
}

function entryOf<Value>(key: string, value: Value | undefined): [string, Value][] {
  return value === undefined ? [] : [[key, value]]
}

/** These problems are over once a source answers again. */
const OF_ABSENCE: ReadonlySet<SyncProblem['code']> = new Set(['source-away', 'source-expired', 'kept-for-floor'])

/** Two problems with one key are one, which goes on with other facts. */
function problemKey(problem: SyncProblem): string {
  const { code } = problem
  if (code === 'family-unserved') return `${code} ${problem.source} ${problem.family}`
  if ('source' in problem) return `${code} ${problem.source}${'first' in problem ? ` ${problem.first}` : ''}`
  if (code === 'other-sync') return `${code} ${problem.instance}`
  return code === 'foreign-slice' ? `${code} ${problem.slice}` : code
}
