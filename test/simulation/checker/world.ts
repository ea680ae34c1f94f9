/** The state of the world that the history leads to, up to the present entry. */
import type { HistoryEntry, Scenario } from './history.ts'
import type { JournalText } from './journal.ts'
import type { LeaseRecord } from './leases.ts'
import { LEASE_MS, readLease } from './leases.ts'
import type { Ledger, LedgerEntry } from './ledgers.ts'
import { dataOf, LEDGER, readLedger, readLedgerEntry } from './ledgers.ts'
import type { Pod, Pods, PodWrite } from './pods.ts'
import { createPods, leaseOf } from './pods.ts'
import type { Process } from './processes.ts'
import { isProcess } from './processes.ts'
import type { Claim, Targets } from './targets.ts'
import { createTargets } from './targets.ts'
import { createVoidIntents } from './void-intents.ts'

export interface TemplateRecord {
  at: number
  /** Container name → image. */
  images: Record<string, string>
  patchedBy: string
}

export interface World {
  scenario: Required<Pick<Scenario, 'callLifeMs' | 'memoryMs' | 'lagMs' | 'watchMs' | 'staleMs'>> & Scenario
  pods: Pods
  targets: Targets
  processes: Map<string, Process>
  /** The records of each Lease, by namespace and name. */
  leases: Map<string, LeaseRecord[]>
  /** The records of each template that sluice patches, by kind and name of the workload. */
  templates: Map<string, TemplateRecord[]>
  /** The ledgers, by the name of their ConfigMap. */
  ledgers: Map<string, Ledger>
  /**
   * Reports whether the journal of the pod is a drain intent that was stored too late for its sender, and that the ledgers declare void.
   * The next attempt begins as after a closed journal.
   */
  isVoid(pod: Pod): boolean
  calmAt: number | undefined
  /** Returns the end of the last silence of a load balancer towards a process. */
  silentUntil(balancer: string, process: string): number
  /** Takes an entry. Returns the effect of a write on a pod, and the pods whose targets a ledger has released for their replacements. */
  apply(entry: HistoryEntry, index: number): Applied
}

export interface Applied {
  write?: PodWrite
  settled?: { uid: string; entry: LedgerEntry }[]
}

const NOTHING: Applied = {}

export function createWorld(given: Scenario): World {
  const scenario = { callLifeMs: 10_000, memoryMs: Infinity, lagMs: 30_000, watchMs: 30_000, staleMs: 0, ...given }
  const pods = createPods()
  /** The end of each silence, by load balancer, or by load balancer and process. */
  const silences = new Map<string, number>()
  const targets = createTargets(scenario)
  const processes = new Map<string, Process>()
  const leases = new Map<string, LeaseRecord[]>()
  const templates: World['templates'] = new Map()
  const ledgers: World['ledgers'] = new Map()
  const voidIntents = createVoidIntents()

  /** Records the claims of a pod's new journal on its targets. */
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
      // A closed journal has no list of targets.
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

  /** Returns the new entries of a ledger that release the targets of a gone pod for a restore. */
  function settled(before: unknown, after: unknown, at: number, index: number): Applied['settled'] {
    const former = dataOf(before)
    const found: { uid: string; entry: LedgerEntry }[] = []
    for (const [uid, text] of Object.entries(dataOf(after))) {
      if (text === former[uid] || uid === 'header' || uid === 'fence') continue
      const entry = readLedgerEntry(text)
      if (entry === undefined || entry.state === 'open') continue
      // The ledger also has the statements of a process about its part. A repeated statement releases nothing.
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
    const known = Array.from(ledgers, ([name, { at }]) => ({ run: name.slice(LEDGER.length), at }))
    return voidIntents.isSaid(uid, journal, known)
  }

  /**
   * Reports whether a drain intent was stored too late: another owner had come, or the sender was killed and its intents are declared void.
   */
  function isLate(pod: Pod, journal: JournalText, by: string): boolean {
    if (journal.step !== 'drain') return false
    const lease = leases.get(leaseOf(pod) ?? '')?.at(-1)
    if (lease !== undefined && lease.transitions > journal.epoch && !isProcess(lease.holder, by)) return true
    const { isRunning, exit } = processes.get(by)!
    const wasKilled = !isRunning && exit === undefined
    return wasKilled && isSaidVoid(pod.uid, journal)
  }

  /** Records the start of work. A write that was sent before a sleep does not show that the process has looked since. */
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
            // The process has lost its Leases, and reads the state again.
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
            // The Lease had run out meanwhile, and its owner reads the state again.
            if (lease && owner && previous && lease.holder === previous.holder && at - previous.at > LEASE_MS)
              owner.begunAt = undefined
            if (lease === undefined && previous) previous.isDeleted = true
            const isCleared = lease?.holder === '' && !isProcess(previous?.holder ?? '', entry.by)
            if (isCleared && previous && previous.holder !== '') previous.isCleared = true
            if (lease) leases.set(lease.key, [...(leases.get(lease.key) ?? []), { ...lease, at, entry: index, by: entry.by }])
          }
          if (resource === 'statefulsets.apps' || resource === 'replicasets.apps') {
            const { kind, metadata, spec } = after as RawWorkload
            pods.scale(`${kind}/${metadata.name}`, spec.replicas ?? 1, at)
          }
          // The template of a Deployment is not patched.
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
            // The run, without the number of the part.
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

interface RawWorkload {
  kind: string
  metadata: { name: string }
  spec: { replicas?: number; template: { spec: { containers: { name: string; image: string }[] } } }
}
