import type { OverlookedPod } from '../../reasons/run-reasons.ts'
import type { Ledger, LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { ReadJournal, Term } from '../../pods/glossary.ts'
import { mayBeOpen, openJournal } from '../../pods/open-journal.ts'
import type { ProcessAccount } from '../../journal/account.ts'
import { areGone } from './cleanup.ts'
import type { PodResult } from '../events.ts'
import { isUnfinished } from '../outcome.ts'
import { findAlive } from './find-alive.ts'
import type { RunLedgers } from './history.ts'
import { allLedgers } from './history.ts'
import type { AssertOwned } from './create-part.ts'
import type { LedgerStore, Told } from './ledger-store.ts'
import { listLedgers } from './list-ledgers.ts'
import { leftOutEntries } from './left-out-entries.ts'
import { displayName, isSameWorkload } from '../../pods/workload-id.ts'
import { isNamedIn } from '../../workloads/kinds/named-in.ts'
import { isPod } from '../../workloads/kinds/pod.ts'
import { isOfOthers, podOf } from './of-others.ts'
import { isNamedBy } from './is-named-by.ts'
import { inTheMiddle, isHadSince, unclosedEntries } from './open-entries.ts'
import { isTakenOver } from './taken-over.ts'
import type { World } from '../world.ts'

interface LookOptions {
  ledgers: RunLedgers
  pods: readonly PodResult[]
  world: World
  client: KubeClient
  namespace: string
  /** An order ends the run, and those before it. */
  aborts: boolean
}

/** What the ledgers have open still, at the end of a run. */
export interface LeftOpen {
  /** With at least one pod that is not at its end. */
  ledgers: ReadonlySet<LedgerStore>
  /**
   * Names of pods that may be left drained and that no machine has looked after: they went while they waited for their
   * turn, or are another request's business.
   */
  overlooked: OverlookedPod[]
  /**
   * Of a workload too that is there, and that is not of this run, nor of one that has come to its end since; in an abort, nor of one
   * that has begun since.
   */
  shared: ReadonlySet<LedgerStore>
}

/** Rejects with a KubeError where the API server cannot be asked. */
export async function findLeftOpen({ ledgers, pods, world, client, namespace, aborts }: LookOptions): Promise<LeftOpen> {
  const results = new Map(pods.map((result) => [result.uid, result]))
  const open = new Set<LedgerStore>()
  const overlooked = new Map<string, OverlookedPod>()
  const shared = new Set<LedgerStore>()
  const { kinds } = world
  const refs = world.workloads.map(({ workload: { ref } }) => ref)
  let present: Promise<LedgerHeader[]> | undefined
  for (const store of ledgers.superseded) if (await isShared(store.ledger.header)) shared.add(store)
  for (const store of [ledgers.current, ...ledgers.superseded]) {
    // Found by reading: the run was over with the first that told of it, nobody could say how it stands, and the next one said done.
    if (leftOutEntries(store.ledger).some(({ uid }) => results.get(uid)?.traffic === 'out')) open.add(store)
    const midway = inTheMiddle(store.ledger)
    // One after another: seldom one, and after a workload was made again all of its pods.
    for (const entry of unclosedEntries(store.ledger, allLedgers(ledgers))) {
      if (!(await isLeft(entry, midway, store.ledger.header))) continue
      open.add(store)
      // Found by reading: by name the pods beside those that are asked for are known too, and what was left out for one of them was
      // passed over in silence.
      const observed = world.store.get(entry.uid)
      const isAskedFor = observed !== undefined && world.includes(observed.pod)
      // An abort that says nothing of it would be over, with its run open.
      const isTold = !aborts && (isAskedFor || (await isOfLater(entry, store.ledger.header)))
      if (!results.has(entry.uid) && !isTold) {
        const workload = otherWorkload(entry, store.ledger.header)
        overlooked.set(`${entry.pod} ${workload}`, { pod: entry.pod, ...(workload === undefined ? {} : { workload }) })
      }
    }
  }
  return { ledgers: open, overlooked: [...overlooked.values()], shared }

  function headers(): Promise<LedgerHeader[]> {
    present ??= listLedgers(client, namespace).then((all) =>
      all.flatMap((found) => (found.kind === 'read' ? [found.ledger.header] : [])),
    )
    return present
  }

  /**
   * Found by reading: a run of two was ended by one of the first alone, and of the second nobody could abort it any more, which had
   * its template changed. One that is gone nobody goes on with.
   */
  async function isShared(header: LedgerHeader): Promise<boolean> {
    const others = header.workloads.filter((one) => !refs.some((ref) => isSameWorkload(ref, one)))
    for (const one of others) {
      if (isTakenOver(one, header, await headers())) continue
      // Whoever has begun with it since goes on with what this one has left of it: an abort of this one leaves that alone.
      if (aborts && (await headers()).some((later) => isOpenSince(later, header) && isNamedBy(later, one))) continue
      if (!(await areGone({ workloads: [one] }, { client, kinds, namespace }))) return true
    }
    return false
  }

  function otherWorkload(entry: LedgerEntry, { workloads }: LedgerHeader): string | undefined {
    if (refs.some((ref) => isNamedIn(kinds, ref, podOf(entry)))) return undefined
    const own = workloads.find((one) => !isPod(one) && isNamedIn(kinds, one, podOf(entry)))
    return own && displayName(own)
  }

  /** A run of its own workload goes on with it, or has, at the same time as this one: that one tells of it. */
  async function isOfLater(entry: LedgerEntry, header: LedgerHeader): Promise<boolean> {
    if (!isOfOthers(entry, header, { kinds, refs, pods: world.store.all })) return false
    return (await headers()).some(
      ({ startedAt, workloads }) => startedAt > header.startedAt && workloads.some((one) => isNamedIn(kinds, one, podOf(entry))),
    )
  }

  async function isLeft(entry: LedgerEntry, midway: readonly LedgerEntry[], { run }: LedgerHeader): Promise<boolean> {
    const { uid, targets } = entry
    const result = results.get(uid)
    if (result) return isUnfinished(result)
    const observed = world.store.get(uid)
    if (observed) return isLeftBy(run, observed.stored)
    // Nobody has looked after it.
    if (targets.every(({ untouched }) => untouched)) return false
    const alive = await findAlive(client, namespace, entry)
    if (alive) return isLeftBy(run, world.journalOf(alive))
    if (isHadSince(entry, midway)) return false
    const { state, removed } = await world.traffic.inspect(uid, targets)
    return state !== 'in' && removed !== true
  }
}

function isOpenSince({ startedAt, finishedAt }: LedgerHeader, before: LedgerHeader): boolean {
  return finishedAt === undefined && startedAt > before.startedAt
}

/** Found by reading: what another run had under way, as its own, was told to be left by the one before. */
function isLeftBy(run: string, stored: ReadJournal): boolean {
  const journal = openJournal(stored)
  return journal === undefined ? mayBeOpen(stored) : journal.run === run || journal.origin === run
}

interface CloseOptions {
  ledgers: RunLedgers
  left: LeftOpen
  /** Every pod was brought to its images. */
  isComplete: boolean
  /** Earlier runs that go on for pods that this one was not about, unless an order ends them. */
  unended: ReadonlySet<Ledger>
  /** By uid, what its entry is to say as `voidBelow`. */
  boundsOf(ledger: Ledger): ReadonlyMap<string, Term>
  /** An order has ended the run, and those before it. */
  aborted?: LedgerHeader['aborted']
  /** This process's part, for the report. */
  told: Told & { process: ProcessAccount }
  assertOwned: AssertOwned
  /** Does a write again that got no answer. */
  patiently(write: () => Promise<void>): Promise<void>
}

/**
 * Of pods that an earlier run alone has on record. Found by trial: a run of other images ended with 8 for one that the run before it had
 * left out, and by `sluice status` nobody had to look. And found by a reader: an undo, to which nothing was to do with a pod that the
 * run had not begun with, told so there, and by the report of the run it was brought to its images: so each says whose word it is.
 */
function ofEarlier({ ledger }: LedgerStore, { pods }: Told, current: LedgerStore): Told {
  const isOnlyThere = (uid: string): boolean => ledger.entries.has(uid) && !current.ledger.entries.has(uid)
  const { run } = current.ledger.header
  return { pods: new Map([...pods].flatMap(([uid, account]) => (isOnlyThere(uid) ? [[uid, { ...account, run }]] : []))) }
}

/** Marks as finished what has nothing open any more. */
export async function closeLedgers(options: CloseOptions): Promise<void> {
  const { ledgers, left, isComplete, unended, boundsOf, aborted, told, assertOwned, patiently } = options
  // Of a run that nobody has ended: it is there to be gone on with, or aborted.
  const goesOn = !aborted && !isComplete
  for (const store of [ledgers.current, ...ledgers.superseded]) {
    const isCurrent = store === ledgers.current
    // Found by reading: an abort of a run of one workload closed an older one of two, and nobody could abort that of the other any
    // more, which had its template changed.
    const isOthers = left.shared.has(store)
    const isUnended = !aborted && unended.has(store.ledger)
    const isOver = !(isCurrent && goesOn) && !left.ledgers.has(store) && !isOthers && !isUnended
    const how = aborted ? { aborted } : unended.size > 0 ? { part: true as const } : {}
    const finished = isOver ? { at: told.process.endedAt, ...how } : undefined
    const voidBelow = boundsOf(store.ledger)
    const own: Told = { ...(isCurrent ? told : ofEarlier(store, told, ledgers.current)), voidBelow }
    if (isCurrent || finished || own.pods.size > 0 || voidBelow.size > 0)
      await patiently(() => store.conclude({ ...(finished ? { finished } : {}), told: own }, assertOwned))
  }
}
