import type { Term } from '../pods/glossary.ts'
import { mayBeOpen } from '../pods/open-journal.ts'
import type { Ledger, LedgerHeader } from '../journal/ledger.ts'
import { WorkloadError } from '../workloads/errors.ts'
import type { Account } from './account.ts'
import type { Reason } from '../reasons/reason.ts'
import { isTaken, reasonOf } from './errors.ts'
import type { PodResult, RunEventBody } from './events.ts'
import type { MixedWorkload } from '../journal/ledger.ts'
import { mixedAfterAbort, putBackAfterAbort, putBackAfterRollback } from './former-templates.ts'
import type { Owners } from './leases/owners.ts'
import { closeLedgers, findLeftOpen } from './ledgers/close-ledgers.ts'
import type { RunLedgers } from './ledgers/history.ts'
import { allLedgers } from './ledgers/history.ts'
import { namedByJournals } from './ledgers/late-intents.ts'
import type { LedgerStore } from './ledgers/ledger-store.ts'
import { listLedgers } from './ledgers/list-ledgers.ts'
import { pruneLedgers } from './ledgers/prune-ledgers.ts'
import { ofTheRest } from './ledgers/taken-over.ts'
import { untilAnswered } from './ledgers/until-answered.ts'
import { UNSETTLED } from './outcome.ts'
import type { RunPorts } from './request.ts'
import { observedIn } from './rollout/beside.ts'
import { ghost } from './rollout/ghosts.ts'
import type { RunEnd } from './run-end.ts'
import { fenceOf } from './template-fence.ts'
import type { World } from './world.ts'

export interface ConclusionOptions {
  ports: RunPorts
  namespace: string
  world: World
  ledgers: RunLedgers
  owners: Owners
  end: RunEnd
  /** Who has ordered what is being obeyed. */
  orderedBy(): string
  /** Aborted where the run was interrupted. */
  signal: AbortSignal
  /** Of all that was told. */
  account: Account
  /** Milliseconds since the run began, as its events have them. */
  atMs(): number
  /** How the run ends is decided: no order is obeyed from now on. */
  onConcluding(): void
  /** An abort has left some pods of a workload on other images than the others. */
  onMixed(mixed: MixedWorkload[]): void
  /** Rejects with a RunError: `conflict` where another owner has the Lease, `deadline` where nobody can say. */
  assertOwned(): Promise<void>
  tell(event: RunEventBody): void
}

/** The templates and ledgers of a run once its pods are at their end. */
export interface Conclusion {
  /** This process has its Leases still. An API server that is away is waited for, unless it is interrupted. */
  isStillOwned(): Promise<boolean>
  /** Puts the template back where a pod was rolled back. */
  endRollback(pods: readonly PodResult[], by: AbortSignal): Promise<void>
  /** Puts the template back after an abort, and closes the ledgers. */
  conclude(pods: readonly PodResult[]): Promise<void>
}

export function createConclusion(options: ConclusionOptions): Conclusion {
  const { ports, namespace, world, ledgers, owners, end, signal, account, assertOwned, tell } = options
  const { client, clock } = ports

  function patiently<T>(work: () => Promise<T>, by = signal): Promise<T> {
    return untilAnswered(work, { clock, signal: by })
  }

  async function isStillOwned(): Promise<boolean> {
    try {
      await patiently(assertOwned)
      return true
    } catch {
      return false
    }
  }

  async function conclude(pods: readonly PodResult[]): Promise<void> {
    try {
      // A pod may have come to its end on what was observed alone, while another had taken over.
      await assertOwned()
    } catch (error) {
      // Found by a reviewer: the wall clock had leapt, the API server was away for half a second, and nobody closed the ledger, or said
      // that it was open.
      return isTaken(error) ? undefined : tellUnclosed(pods, error, end.isAborted())
    }
    options.onConcluding()
    const aborted = end.isAborted() ? await endAbort(pods) : undefined
    // Begun, and not at its end: for the next abort.
    if (end.isAborted() && aborted === undefined) return
    try {
      // A template may take long to be put back.
      if (aborted) await patiently(assertOwned)
      const looking = { ledgers, pods, world, client, namespace, aborts: aborted !== undefined }
      const left = await patiently(() => findLeftOpen(looking))
      if (left.overlooked.length > 0) end.withOverlooked(pods, left.overlooked)
      const ended = { by: ports.identity, endedAt: new Date(clock.wallNow()).toISOString(), ...end.ofPods(pods) }
      const idle = idleAmong(ledgers.current.ledger.entries.keys(), pods)
      const told = { process: account.process(ended), pods: account.pods(options.atMs()), idle }
      await closeLedgers({
        ledgers,
        left,
        boundsOf,
        isComplete: end.isComplete(pods),
        unended: end.unended(pods),
        told,
        assertOwned,
        patiently,
        ...(aborted ? { aborted } : {}),
      })
    } catch (error) {
      return tellUnclosed(pods, error, aborted !== undefined)
    }
    // Found by reading: an abort had ended its run, and was told not to have, since an old record could not be removed.
    const named = namedByJournals([...world.store.all(), ...world.beside.all()])
    await pruneLedgers({ ledgers, client, namespace, assertOwned, named }).catch((error: unknown) =>
      tell({ type: 'warning', reason: { code: 'ledgers-not-removed', because: reasonOf(error) } }),
    )
  }

  /** Found by reading: a run was called aborted, and was open, with its order. */
  async function tellUnclosed(pods: readonly PodResult[], error: unknown, isAborted: boolean): Promise<void> {
    const trouble: Reason = { code: 'ledger-not-closed', because: reasonOf(error) }
    tell({ type: 'warning', reason: trouble })
    if (isAborted && (await isAnyOpen())) end.withOpenRecord(pods, trouble, error)
  }

  /** By their records, which another may have closed meanwhile, or this process without an answer. */
  async function isAnyOpen(): Promise<boolean> {
    const open = [ledgers.current, ...ledgers.superseded].flatMap(({ ledger: { header } }) =>
      header.finishedAt ? [] : [header.run],
    )
    if (open.length === 0) return false
    try {
      const found = await listLedgers(client, namespace)
      return found.some((one) =>
        one.kind === 'read'
          ? open.includes(one.ledger.header.run) && one.ledger.header.finishedAt === undefined
          : open.includes(one.run),
      )
    } catch {
      return true
    }
  }

  /**
   * Those that are there, whose own journal says that nothing is drained for them, and of whom nothing else was told; of those that
   * are gone, whose journal has gone with them, those of whom just that was told. Found by reading: one that was replaced while the
   * run went on stayed open, and the next process put back what an operator had out, or asked for a person where nobody can read it.
   */
  function idleAmong(uids: Iterable<string>, pods: readonly PodResult[]): ReadonlySet<string> {
    const told = new Map(pods.map((result) => [result.uid, result]))
    const isIdle = (uid: string): boolean => {
      const stored = world.store.get(uid)?.stored
      const result = told.get(uid)
      if (result && (result.traffic === 'out' || UNSETTLED.has(result.outcome))) return false
      return stored === undefined ? result !== undefined && result.traffic !== 'leftOut' : !mayBeOpen(stored)
    }
    return new Set([...uids].filter(isIdle))
  }

  /**
   * By uid, below which drain intents that come from now on count for nothing, where the entry does not say it already: of pods with
   * nothing open, as when this process began.
   */
  function boundsOf({ entries }: Ledger): ReadonlyMap<string, Term> {
    const observed = observedIn(world)
    const bounds = Array.from(entries.values()).flatMap(({ uid, voidBelow }) => {
      const stored = observed(uid)?.stored
      const bound = world.boundOf(uid)
      const isNews = bound?.lease !== voidBelow?.lease || bound?.epoch !== voidBelow?.epoch
      return stored && !mayBeOpen(stored) && bound && isNews ? [[uid, bound] as const] : []
    })
    return new Map(bounds)
  }

  /**
   * Or it has gone on its way back, and nobody goes on with it. Found by reading: the template stayed on the images that had failed,
   * and what was made anew came up on those. One that is there has it on record, for the same command again.
   */
  function isRolledBack({ uid, outcome, before }: PodResult): boolean {
    const pod = world.store.get(uid)?.pod
    const isThere = pod !== undefined && !pod.deleting && !pod.finished
    return outcome === 'rolledBack' || (before?.outcome === 'rolledBack' && !isThere)
  }

  async function endRollback(pods: readonly PodResult[], by: AbortSignal): Promise<void> {
    const { current, superseded } = ledgers
    if (end.isAborted() || !pods.some(isRolledBack)) return
    try {
      await patiently(assertOwned, by)
    } catch (error) {
      if (!isTaken(error)) tell({ type: 'warning', reason: { code: 'template-not-put-back', because: reasonOf(error) } })
      return
    }
    const ended = superseded.map(({ ledger }) => ledger)
    const entries = pods.filter(isRolledBack).flatMap(({ uid }) => current.ledger.entries.get(uid) ?? [])
    const failed = entries.map((entry) => ghost(entry, world, namespace))
    await putBackAfterRollback({ ledger: current.ledger, ended, world, failed, signal: by, isOwned: owners.confirmAll, tell })
  }

  /** Undefined where a template could not be put back. */
  async function endAbort(pods: readonly PodResult[]): Promise<LedgerHeader['aborted']> {
    try {
      const { current, superseded } = ledgers
      const rest = ({ ledger }: LedgerStore): Ledger => ofTheRest(ledger, allLedgers(ledgers))
      const ledger = rest(current)
      const ended = superseded.map(rest)
      const { confirmAll: isOwned } = owners
      const fence = fenceOf(ledgers, owners)
      const left = await putBackAfterAbort({ ledger, ended, world, signal, isOwned, fence, tell })
      if (left.length > 0) end.because({ outcome: 'conflict', reason: { code: 'aborted-but', left } })
      const mixed = left.length > 0 ? [] : mixedAfterAbort({ ledger, ended, world })
      options.onMixed(mixed)
      // An interrupt comes too late now to change it.
      end.because(end.ofPods(pods))
      return { by: options.orderedBy(), left, mixed }
    } catch (error) {
      const outcome = error instanceof WorkloadError && error.kind === 'deadline' ? 'deadline' : 'failed'
      end.because({ outcome, reason: { code: 'template-not-put-back', because: reasonOf(error) } })
      return undefined
    }
  }

  return { isStillOwned, endRollback, conclude }
}
