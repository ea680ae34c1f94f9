/** What the history has come to, up to the entry that is being looked at. */
import type { HistoryEntry, Scenario } from './history.ts'
import type { JournalText } from './journal.ts'
import { addressOf, entryName } from './journal.ts'
import type { Pod, Pods, PodWrite } from './pods.ts'
import { createPods, leaseOf } from './pods.ts'
import type { Claim, Targets } from './targets.ts'
import { createTargets } from './targets.ts'
import { createVoidIntents } from './void-intents.ts'

export interface Process {
  name: string
  isRunning: boolean
  startedAt: number
  /**
   * Its first effect, or write of a pod, since it was started or had slept for long: until then it reads what there is, also of pods
   * that its ledger alone knows, and waits for the template (harsh seed 2508761).
   */
  begunAt: number | undefined
  /** When it saw and decided nothing: it was stopped, until it went on, or has ended. */
  sleeps: { from: number; to: number }[]
  /** The entry of its end, where it ended by itself. */
  exit: (Extract<HistoryEntry, { type: 'process' }> & { entry: number }) | undefined
  /** By uid: what it told last of a pod, also where it was killed before its end. */
  told: Map<string, Extract<HistoryEntry, { type: 'told' }> & { entry: number }>
  wanted: Record<string, string> | undefined
  /** The names of the pods that it is about, where these are not all. */
  part: readonly string[] | undefined
  /** It writes down what a person has seen. */
  isWord: boolean
}

export interface LeaseRecord {
  at: number
  entry: number
  by: string
  holder: string
  transitions: number
  /** Runs that are to be paused or aborted. */
  ordered: string[]
  /** Somebody has deleted it after this. */
  isDeleted?: true
}

export interface TemplateRecord {
  at: number
  /** Container name → image. */
  images: Record<string, string>
  patchedBy: string
}

/** What a ledger says of a pod that is gone. */
export interface LedgerEntry {
  state: string
  /** Its targets stay out, since nothing was to come in its place. */
  leftOut?: true
  owner: string | undefined
  /** `address`: whose pod is meant. */
  targets: { balancer: string; target: string; address: string | undefined; untouched: boolean }[]
}

interface Ledger extends LedgerHeader {
  /** When it was made, and where in the history that is. */
  at: number
  entry: number
  /** Whoever has made it had ended by then. */
  isOrphan: boolean
  /** Who wrote that its run is. */
  finishedBy: string | undefined
}

interface LedgerHeader {
  /** So is its run. */
  finished: boolean
  /** By an order. */
  aborted: boolean
  /** It takes another run back. */
  isUndo: boolean
  /** It has found another template. */
  hasSetTemplate: boolean
  /** It is about a pod or a template. */
  hasWork: boolean
  /** Uids. */
  pods: string[]
}

export interface World {
  scenario: Required<Pick<Scenario, 'callLifeMs' | 'memoryMs' | 'lagMs' | 'watchMs' | 'staleMs'>> & Scenario
  pods: Pods
  targets: Targets
  processes: Map<string, Process>
  /** By namespace and name: who held it since when. */
  leases: Map<string, LeaseRecord[]>
  /** Of each workload whose template sluice patches, by its kind and name: what it had since when. */
  templates: Map<string, TemplateRecord[]>
  /** By the name of its ConfigMap. */
  ledgers: Map<string, Ledger>
  /**
   * The journal of the pod is a drain intent that was stored when its sender could act on it no more, and the ledgers say that it counts
   * for nothing: what comes after it begins anew, as after one that is closed (seed 44046630).
   */
  isVoid(pod: Pod): boolean
  calmAt: number | undefined
  /** Until when a load balancer answered nobody, or not this process. */
  silentUntil(balancer: string, process: string): number
  /** Takes an entry; answers what a write did to a pod, and which pods' targets a ledger has released for their heirs. */
  apply(entry: HistoryEntry, index: number): Applied
}

export interface Applied {
  write?: PodWrite
  settled?: { uid: string; entry: LedgerEntry }[]
}

const NOTHING: Applied = {}

/** Who sleeps longer cannot have kept one. */
const LEASE_MS = 15_000
/** Until a renewal is given up that nobody has answered. */
const LEASE_ANSWER_MS = 4_000

export function createWorld(given: Scenario): World {
  const scenario = { callLifeMs: 10_000, memoryMs: Infinity, lagMs: 30_000, watchMs: 30_000, staleMs: 0, ...given }
  const pods = createPods()
  /** By load balancer, or that and the process. */
  const silences = new Map<string, number>()
  const targets = createTargets(scenario)
  const processes = new Map<string, Process>()
  const leases = new Map<string, LeaseRecord[]>()
  const templates: World['templates'] = new Map()
  const ledgers: World['ledgers'] = new Map()
  const voidIntents = createVoidIntents()

  /** The journal of the pod now says whose its targets are. */
  function journaled(
    { pod, journal }: PodWrite,
    { at, by, leftAt = at }: Extract<HistoryEntry, { type: 'stored' }>,
    entry: number,
  ): void {
    if (journal === undefined) return
    if (!processes.has(by) || journal === 'unreadable' || journal === 'removed') {
      pod.tampered = entry
      pod.journal = undefined
      return
    }
    pod.journal = { ...journal, entry, by, leftAt, at, isLate: isLate(pod, journal, by) }
    if (journal.step === 'closed') {
      pod.patch = undefined
      pod.closedAt = leftAt
      // It has no list of its targets any more.
      for (const { claims, balancer, name } of targets.all.values()) {
        const last = claims.at(-1)
        if (last?.uid === pod.uid && last.step !== 'closed')
          targets.claim(balancer, name, { ...last, at, leftAt, entry, step: 'closed' })
      }
      return
    }
    const attempt = `${pod.uid} ${journal.attempt} ${pod.tampered}`
    for (const { balancer, target, untouched, said } of journal.targets) {
      const isTampered = pod.tampered > 0
      const isSaid = said && processes.get(by)!.isWord
      const claim: Claim = { at, leftAt, entry, uid: pod.uid, attempt, step: journal.step, untouched, isTampered, isSaid }
      targets.claim(balancer, target, claim)
    }
  }

  /** Entries of a ledger that say, newly, that the targets of a gone pod may be restored. */
  function settled(before: unknown, after: unknown, at: number, index: number): Applied['settled'] {
    const former = dataOf(before)
    const found: { uid: string; entry: LedgerEntry }[] = []
    for (const [uid, text] of Object.entries(dataOf(after))) {
      if (text === former[uid] || uid === 'header' || uid === 'fence') continue
      const entry = readLedgerEntry(text)
      if (entry === undefined || entry.state === 'open') continue
      // What a process tells of its part goes there too, and releases nothing.
      const known = former[uid] === undefined ? undefined : readLedgerEntry(former[uid])
      if (JSON.stringify(known) === JSON.stringify(entry)) continue
      if (entry.state === 'restore') found.push({ uid, entry })
      for (const { balancer, target, untouched } of entry.targets) {
        const last = targets.of(balancer, target).claims.findLast((claim) => claim.uid === uid)
        const step = entry.state === 'restore' ? 'restore' : 'closed'
        const attempt = last?.attempt ?? `${uid} 1 0`
        const isTampered = last?.isTampered ?? true
        const claim = { at, leftAt: at, entry: index, uid, attempt, step, untouched, isTampered, isSaid: false } as const
        targets.claim(balancer, target, claim)
        if (entry.leftOut && !untouched) targets.of(balancer, target).isLeftOut = true
      }
    }
    return found
  }

  function isSaidVoid(uid: string, journal: JournalText): boolean {
    const known = Array.from(ledgers, ([name, { finished, at }]) => ({ run: name.slice(LEDGER.length), finished, at }))
    return voidIntents.isSaid(uid, journal, known)
  }

  /** Another owner had come by then; or it was killed, and it was said of all that it has sent. */
  function isLate(pod: Pod, journal: JournalText, by: string): boolean {
    if (journal.step !== 'drain') return false
    const lease = leases.get(leaseOf(pod) ?? '')?.at(-1)
    if (lease !== undefined && lease.transitions > journal.epoch && !isProcess(lease.holder, by)) return true
    const { isRunning, exit } = processes.get(by)!
    const wasKilled = !isRunning && exit === undefined
    return wasKilled && isSaidVoid(pod.uid, journal)
  }

  /** What was sent before it slept says nothing of what it has seen since. */
  function begin(name: string, leftAt: number, at: number): void {
    const process = processes.get(name)
    if (process !== undefined && leftAt >= (process.sleeps.at(-1)?.to ?? 0)) process.begunAt ??= at
  }

  const world: World = {
    scenario,
    pods,
    targets,
    processes,
    leases,
    templates,
    ledgers,
    isVoid: ({ uid, journal }) => journal !== undefined && journal.isLate && isSaidVoid(uid, journal),
    calmAt: undefined,
    silentUntil: (balancer, process) => Math.max(silences.get(balancer) ?? 0, silences.get(`${balancer} ${process}`) ?? 0),
    apply(entry, index) {
      switch (entry.type) {
        case 'effect':
          begin(entry.by, entry.leftAt, entry.at)
          targets.apply(entry, entry.at, index)
          return NOTHING
        case 'target':
          targets.apply(entry, entry.at, index)
          return NOTHING
        case 'container':
          pods.node(entry, index)
          return NOTHING
        case 'silent':
          silences.set([entry.balancer, entry.process].filter(Boolean).join(' '), entry.at + entry.forMs)
          return NOTHING
        case 'forgot':
          targets.forget(entry.balancer)
          return NOTHING
        case 'calm':
          world.calmAt = entry.at
          return NOTHING
        case 'process': {
          const { process: name, what, wanted, part, isWord = false } = entry
          const known = processes.get(name)
          const process: Process = known ?? {
            name,
            isRunning: true,
            startedAt: entry.at,
            begunAt: undefined,
            sleeps: [],
            exit: undefined,
            told: new Map(),
            wanted,
            part,
            isWord,
          }
          processes.set(name, process)
          const last = process.sleeps.at(-1)
          const isAsleep = last?.to === Infinity
          if (what === 'continued' && isAsleep) {
            last.to = entry.at
            // It has lost its Leases, and looks at all anew.
            if (entry.at - last.from > LEASE_MS) process.begunAt = undefined
          } else if (what !== 'started' && what !== 'continued' && !isAsleep) {
            process.sleeps.push({ from: entry.at, to: Infinity })
          }
          if (what === 'crashed' || what === 'exited') process.isRunning = false
          if (what === 'exited') process.exit = { ...entry, entry: index }
          return NOTHING
        }
        case 'told':
          processes.get(entry.process)?.told.set(entry.uid, { ...entry, entry: index })
          return NOTHING
        case 'stored': {
          const { resource, before, after, at } = entry
          if (resource === 'pods') {
            begin(entry.by, entry.leftAt ?? at, at)
            const write = pods.store(entry, at, index, processes.has(entry.by))
            if (write === undefined) return NOTHING
            journaled(write, entry, index)
            return { write }
          }
          if (resource === 'leases.coordination.k8s.io' || resource === 'leases') {
            const lease = readLease(after)
            const previous = leases.get((lease ?? readLease(before))?.key ?? '')?.at(-1)
            const owner = processes.get(entry.by)
            // It had run out meanwhile, and its owner looks at all anew, however long that takes (harsh seed 4322041).
            if (lease && owner && previous && lease.holder === previous.holder && at - previous.at > LEASE_MS)
              owner.begunAt = undefined
            if (lease === undefined && previous) previous.isDeleted = true
            if (lease) leases.set(lease.key, [...(leases.get(lease.key) ?? []), { ...lease, at, entry: index, by: entry.by }])
          }
          if (resource === 'statefulsets.apps' || resource === 'replicasets.apps') {
            const { kind, metadata, spec } = after as RawWorkload
            pods.scale(`${kind}/${metadata.name}`, spec.replicas ?? 1, at)
          }
          // A Deployment's is left as it is.
          if (resource === 'statefulsets.apps' || resource === 'daemonsets.apps') {
            const { kind, metadata, spec } = after as RawWorkload
            const images = Object.fromEntries(spec.template.spec.containers.map(({ name, image }) => [name, image]))
            const key = `${kind}/${metadata.name}`
            const known = templates.get(key) ?? []
            const isSame = JSON.stringify(images) === JSON.stringify(known.at(-1)?.images)
            if (!isSame) templates.set(key, [...known, { at, images, patchedBy: entry.by }])
          }
          if (resource === 'configmaps') {
            const { key, header } = readLedger(after ?? before)
            if (key !== undefined && after === undefined) ledgers.delete(key)
            if (key === undefined || after === undefined) return NOTHING
            if (header !== undefined) {
              const isOrphan = processes.get(entry.by)?.isRunning === false
              const made = ledgers.get(key) ?? { at, entry: index, isOrphan, finishedBy: undefined }
              const finishedBy = made.finishedBy ?? (header.finished ? entry.by : undefined)
              ledgers.set(key, { ...made, ...header, finishedBy })
            }
            // Without the number of the part.
            voidIntents.note(key.slice(LEDGER.length).replace(/-\d+$/, ''), dataOf(after))
            const release = settled(before, after, at, index)
            return release === undefined ? NOTHING : { settled: release }
          }
          return NOTHING
        }
        default:
          return NOTHING
      }
    },
  }
  return world
}

interface RawLease {
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> }
  spec?: { holderIdentity?: string | null; leaseTransitions?: number | null }
}

interface RawOrder {
  runs?: string[]
}

interface RawWorkload {
  kind: string
  metadata: { name: string }
  spec: { replicas?: number; template: { spec: { containers: { name: string; image: string }[] } } }
}

function readLease(object: unknown): (Pick<LeaseRecord, 'holder' | 'transitions' | 'ordered'> & { key: string }) | undefined {
  const { metadata, spec } = (object ?? {}) as Partial<RawLease>
  if (metadata === undefined) return undefined
  const key = `${metadata.namespace ?? ''}/${metadata.name}`
  const order = JSON.parse(metadata.annotations?.['sluice.dev/order'] ?? '{}') as RawOrder & { others?: RawOrder[] }
  const ordered = [order, ...(order.others ?? [])].flatMap(({ runs = [] }) => runs)
  return { key, holder: spec?.holderIdentity ?? '', transitions: spec?.leaseTransitions ?? 0, ordered }
}

function dataOf(object: unknown): Record<string, string> {
  return ((object ?? {}) as { data?: Record<string, string> }).data ?? {}
}

/** What the name of each run's ledger begins with. */
export const LEDGER = 'sluice-run-'

/** The run that the newest undo takes back: the newest that was no undo itself, and had something to do. */
export function undoneRun({ ledgers }: World): string | undefined {
  const runs = [...ledgers]
  const before = runs.slice(
    0,
    Math.max(
      0,
      runs.findLastIndex(([, { isUndo }]) => isUndo),
    ),
  )
  return before.findLast(([, { isUndo, hasWork }]) => !isUndo && hasWork)?.[0].slice(LEDGER.length)
}

/** What a run's ledger, or a part of one, says by key; nothing of any other ConfigMap. */
export function ledgerOf(object: unknown): Record<string, string> {
  return readLedger(object).key === undefined ? {} : dataOf(object)
}

/** `header` only where this ConfigMap has it. */
function readLedger(object: unknown): { key?: string; header?: LedgerHeader } {
  const { metadata } = (object ?? {}) as Partial<RawLease>
  if (!metadata?.name.startsWith(LEDGER)) return {}
  const { header: text, ...pods } = dataOf(object)
  if (text === undefined) return { key: metadata.name }
  const header = {
    finished: text.includes('"finishedAt"'),
    aborted: text.includes('"aborted"'),
    isUndo: text.includes('"undoes"'),
    hasSetTemplate: text.includes('"before"'),
    hasWork: Object.keys(pods).length > 0 || text.includes('"before"'),
    pods: Object.keys(pods),
  }
  return { key: metadata.name, header }
}

function readLedgerEntry(text: string): LedgerEntry | undefined {
  try {
    const { state, leftOut, owner, targets } = JSON.parse(text) as {
      state: string
      leftOut?: true
      owner?: { kind: string; name: string }
      targets: { loadBalancer: string; target: string; untouched: boolean }[]
    }
    return {
      state,
      ...(leftOut ? { leftOut } : {}),
      owner: owner && `${owner.kind}/${owner.name}`,
      targets: targets.map(({ loadBalancer, target, untouched }) => ({
        balancer: loadBalancer,
        target: entryName(target),
        address: addressOf(target),
        untouched,
      })),
    }
  } catch {
    return undefined
  }
}

/** Who held that Lease at that moment, or else any. */
export function holdersAt({ leases, processes }: World, at: number, lease?: string): string[] {
  const asked = lease === undefined ? leases.values() : [leases.get(lease) ?? []]
  return [...asked].flatMap((records) => holdersIn(records, processes, at))
}

/**
 * Who had one that somebody has deleted may act until it has run out, since it cannot know before its next renewal; and whoever has
 * made another meanwhile may not (harsh seed 9109739), but where nothing was on record of that owner yet (harsh seed 9299600).
 */
function holdersIn(records: readonly LeaseRecord[], processes: World['processes'], at: number): string[] {
  const written = records.filter((record) => record.at <= at)
  const last = written.at(-1)
  if (last === undefined) return []
  const place = written.slice(0, -1).findLastIndex(({ isDeleted }) => isDeleted)
  const [deleted, made] = place === -1 ? [] : written.slice(place)
  const owner = [...processes.values()].find(({ name }) => deleted !== undefined && isProcess(deleted.holder, name))
  if (deleted === undefined || !owner?.isRunning || at - deleted.at > LEASE_MS) return [last.holder]
  const isOnRecord = owner.begunAt !== undefined && owner.begunAt < made!.at
  return isOnRecord ? [deleted.holder] : [deleted.holder, last.holder]
}

interface Span {
  from: number
  to: number
}

/** Milliseconds in which it could see what happened. */
export function awakeMs({ startedAt, sleeps }: Process, since: number, at: number): number {
  return remainderMs(sleeps, Math.max(since, startedAt), at)
}

/** Milliseconds in which it could see what happened, and do something about it. */
export function ableMs(world: World, process: Process, since: number, at: number): number {
  const spans = [...process.sleeps, ...unsure(world, process, at)]
  return remainderMs(spans, Math.max(since, process.startedAt), at)
}

/** What these leave of the time. They may lie over one another. */
function remainderMs(spans: readonly Span[], since: number, until: number): number {
  let from = since
  let remainder = 0
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    remainder += Math.max(0, Math.min(until, span.from) - from)
    from = Math.max(from, span.to)
  }
  return remainder + Math.max(0, until - from)
}

/**
 * It could not renew its Lease for so long that this would not have outlived a call, by all that it had been answered: then it may
 * call nobody (harsh seed 6212276).
 */
function unsure({ leases, scenario }: World, { name }: Process, at: number): Span[] {
  return [...leases.values()].flatMap((records) => {
    const renewed = records.filter((record) => record.by === name && record.at <= at).map((record) => record.at)
    return renewed.slice(1).flatMap((next, index) => {
      const from = renewed[index]! + LEASE_MS - scenario.callLifeMs
      return next > from ? [{ from, to: next + LEASE_ANSWER_MS }] : []
    })
  })
}

/** Since when it decides nothing. */
export function asleepSince({ sleeps }: Process): number | undefined {
  const last = sleeps.at(-1)
  return last?.to === Infinity ? last.from : undefined
}

/** Of other pods it says nothing. */
export function isAbout({ part }: Process, pod: { name: string }): boolean {
  return part === undefined || part.includes(pod.name)
}

/** A process adds to its name what makes it the only one. */
export function isProcess(holder: string, name: string): boolean {
  return holder === name || holder.startsWith(`${name}_`)
}
