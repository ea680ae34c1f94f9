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
  /** An order ends the run, and the runs before it. */
  aborts: boolean
}

/** The open records in the ledgers at the end of a run. */
export interface LeftOpen {
  /** The ledgers with at least one pod that is not at its end. */
  ledgers: ReadonlySet<LedgerStore>
  /** The pods that may be left drained and that no machine has looked after. They went while they waited, or belong to another request. */
  overlooked: OverlookedPod[]
  /**
   * The ledgers that are also about another existing workload, which this run is not about and no later run has finished. In an abort, a
   * workload with which a later run has begun does not count either.
   */
  shared: ReadonlySet<LedgerStore>
}

/** Finds the open records. Rejects with a KubeError where the API server cannot be asked. */
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
    // The run stays open until the entries that were left out are settled: a closed run would hide them from the next one.
    if (leftOutEntries(store.ledger).some(({ uid }) => results.get(uid)?.traffic === 'out')) open.add(store)
    const midway = inTheMiddle(store.ledger)
    // The entries are read one after another. There are few, except after a workload was made again.
    for (const entry of unclosedEntries(store.ledger, allLedgers(ledgers))) {
      if (!(await isLeft(entry, midway, store.ledger.header))) continue
      open.add(store)
      // With a request by name, the store also has pods beside the requested ones. A pod that was left out among those must be told, too.
      const observed = world.store.get(entry.uid)
      const isAskedFor = observed !== undefined && world.includes(observed.pod)
      // An abort tells of each such pod. It would otherwise end with its run still open.
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
   * Reports whether the run is also about another workload that no later run has taken over. Such a run stays open, so that it can be
   * aborted for that workload. A deleted workload does not count, since no run can continue it.
   */
  async function isShared(header: LedgerHeader): Promise<boolean> {
    const others = header.workloads.filter((one) => !refs.some((ref) => isSameWorkload(ref, one)))
    for (const one of others) {
      if (isTakenOver(one, header, await headers())) continue
      // A later run has begun with the workload, and continues the remains of this one. An abort of this run leaves them alone.
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

  /** Reports whether a later run on the pod's own workload continues the entry. That run tells of the pod. */
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
    // No machine has looked after the pod.
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

/** Reports whether the open record is that of the run. A record of another run is told by that run. */
function isLeftBy(run: string, stored: ReadJournal): boolean {
  const journal = openJournal(stored)
  return journal === undefined ? mayBeOpen(stored) : journal.run === run || journal.origin === run
}

interface CloseOptions {
  ledgers: RunLedgers
  left: LeftOpen
  /** Every pod runs its wanted images, or is settled. */
  isComplete: boolean
  /** The earlier runs that go on for pods that this run was not about. An abort ends them too. */
  unended: ReadonlySet<Ledger>
  /** The `voidBelow` of the entries, by uid. */
  boundsOf(ledger: Ledger): ReadonlyMap<string, Term>
  /** An order has ended the run, and the runs before it. */
  aborted?: LedgerHeader['aborted']
  /** The part of this process, for the report. */
  told: Told & { process: ProcessAccount }
  assertOwned: AssertOwned
  /** Repeats a write that got no answer. */
  patiently(write: () => Promise<void>): Promise<void>
}

/**
 * The accounts of pods that only an earlier run has on record. They are written there with the run that told them, so that `sluice status`
 * shows their end, and the report of the earlier run tells the two apart.
 */
function ofEarlier({ ledger }: LedgerStore, { pods }: Told, current: LedgerStore): Told {
  const isOnlyThere = (uid: string): boolean => ledger.entries.has(uid) && !current.ledger.entries.has(uid)
  const { run } = current.ledger.header
  return { pods: new Map([...pods].flatMap(([uid, account]) => (isOnlyThere(uid) ? [[uid, { ...account, run }]] : []))) }
}

/** Marks the ledgers as finished that have nothing open any more, and writes the accounts. */
export async function closeLedgers(options: CloseOptions): Promise<void> {
  const { ledgers, left, isComplete, unended, boundsOf, aborted, told, assertOwned, patiently } = options
  // A run that was neither completed nor aborted stays open, so that a command can continue or abort it.
  const goesOn = !aborted && !isComplete
  for (const store of [ledgers.current, ...ledgers.superseded]) {
    const isCurrent = store === ledgers.current
    // The ledger of several workloads stays open for the workload that this run is not about, so that it can still be aborted there.
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
