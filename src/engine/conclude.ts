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
  /** The origin of the order that is carried out. */
  orderedBy(): string
  /** Aborted where the run was interrupted. */
  signal: AbortSignal
  /** The account of all events. */
  account: Account
  /** The time since the run began, on the clock of its events, in milliseconds. */
  atMs(): number
  /** The outcome of the run is decided. No order is carried out from now on. */
  onConcluding(): void
  /** An abort has left pods of a workload on different images. */
  onMixed(mixed: MixedWorkload[]): void
  /** Rejects with a RunError: `conflict` where another owner has a Lease, `deadline` where that is not known. */
  assertOwned(): Promise<void>
  tell(event: RunEventBody): void
}

/** The end of a run's templates and ledgers, once its pods have ended. */
export interface Conclusion {
  /** Reports whether this process still has its Leases. An API server without an answer is waited for, unless the run is interrupted. */
  isStillOwned(): Promise<boolean>
  /** Puts the template back where a pod was rolled back. */
  endRollback(pods: readonly PodResult[], by: AbortSignal): Promise<void>
  /** Puts the templates back after an abort, and closes the ledgers. */
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
      // A pod can end on its observation alone, while another owner has taken over.
      await assertOwned()
    } catch (error) {
      // A short outage of the API server leaves the ledger open. The warning tells of that.
      return isTaken(error) ? undefined : tellUnclosed(pods, error, end.isAborted())
    }
    options.onConcluding()
    const aborted = end.isAborted() ? await endAbort(pods) : undefined
    // The abort has begun and is not done. The next abort continues it.
    if (end.isAborted() && aborted === undefined) return
    try {
      // The Leases are confirmed again, since putting a template back can take long.
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
    // A record that cannot be removed is only a warning, and not the outcome of the run.
    const named = namedByJournals([...world.store.all(), ...world.beside.all()])
    await pruneLedgers({ ledgers, client, namespace, assertOwned, named }).catch((error: unknown) =>
      tell({ type: 'warning', reason: { code: 'ledgers-not-removed', because: reasonOf(error) } }),
    )
  }

  /** Warns of a ledger that could not be closed. An aborted run whose ledger is open is not called aborted. */
  async function tellUnclosed(pods: readonly PodResult[], error: unknown, isAborted: boolean): Promise<void> {
    const trouble: Reason = { code: 'ledger-not-closed', because: reasonOf(error) }
    tell({ type: 'warning', reason: trouble })
    if (isAborted && (await isAnyOpen())) end.withOpenRecord(pods, trouble, error)
  }

  /** Reads whether a ledger is open. Another process may have closed it, or this one without an answer. */
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
   * The pods for which nothing is drained: present pods with nothing open in their journals and no other result, and gone pods whose result
   * says so. The ledger notes them as `idle`, so that the next run does not restore an entry that an operator has out.
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
   * The terms below which later drain intents are void, by uid, where the entries do not have them: those of pods with nothing open, now
   * and when this process began.
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
   * Reports whether the pod was rolled back, or went on the way back. The template must not keep the images that failed, since new pods
   * would get them. A pod that still exists is on record, and the same command continues it.
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

  /** Puts the templates back after an abort. Undefined where one could not be put back. */
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
      // The outcome is decided, so that a later interrupt cannot change it.
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
