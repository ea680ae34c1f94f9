import type { Ledger, LedgerHeader, PlacedLedger } from '../../journal/ledger.ts'
import type { ContainerImage } from '../../pods/glossary.ts'
import { isSameWorkload } from '../../pods/workload-id.ts'
import { RunError } from '../errors.ts'
import { assertOrdered } from '../orders/order.ts'
import type { RunRequest } from '../request.ts'
import type { World } from '../world.ts'
import { isNamedBy } from './is-named-by.ts'

/** The ledgers of a namespace by their relation to a run. */
export interface ChosenLedgers {
  /** The ledger that the run continues. */
  same: PlacedLedger | undefined
  /** The unfinished ledgers, the newest first. The run settles their open entries. */
  superseded: PlacedLedger[]
  finished: PlacedLedger[]
  /** The ledgers of other workloads only. */
  elsewhere: Ledger[]
}

interface ChooseOptions {
  request: RunRequest
  world: World
}

/** @throws RunError where the runs that an abort is to end have ended, or a later run is open */
export function chooseLedgers(all: readonly PlacedLedger[], { request, world }: ChooseOptions): ChosenLedgers {
  const uids = new Set(world.workloads.map(({ workload }) => workload.uid))
  // The name counts too: a workload that was deleted and made again has another uid, and the same Lease and targets.
  const isOurs = (one: LedgerHeader['workloads'][number]): boolean =>
    uids.has(one.uid) || world.workloads.some(({ workload: { ref } }) => isSameWorkload(ref, one))
  const ours = all.filter(({ ledger }) => ledger.header.workloads.some(isOurs))
  const elsewhere = all.flatMap((one) => (ours.includes(one) ? [] : [one.ledger]))
  const newestFirst = ours.toSorted((a, b) => (a.ledger.header.startedAt < b.ledger.header.startedAt ? 1 : -1))
  const open = newestFirst.filter(({ ledger }) => ledger.header.finishedAt === undefined)
  const finished = newestFirst.filter(({ ledger }) => ledger.header.finishedAt !== undefined)
  const same = request.abort ? newestOrdered(request.abort.runs) : newestFirst.slice(0, 1).find(isGoneOnWith)
  if (request.abort && !same) throw endedMeanwhile(request.abort.runs, finished)
  return { same, superseded: open.filter((one) => one !== same), finished, elsewhere }

  /**
   * The newest open ledger. A workload with a later run that is not ordered to end makes the abort fail, since that run has taken over the
   * earlier ones.
   */
  function newestOrdered(runs: readonly string[]): PlacedLedger | undefined {
    for (const { workload } of world.workloads) {
      const newest = open.find(({ ledger: { header } }) => isNamedBy(header, workload.ref))
      if (newest) assertOrdered(newest.ledger.header.run, runs)
    }
    return open[0]
  }

  // Only the newest ledger can be continued: a later ledger may have closed entries that an older one has open.
  function isGoneOnWith({ ledger: { header } }: PlacedLedger): boolean {
    const isSameSelection = header.workloads.length === uids.size && header.workloads.every(({ uid }) => uids.has(uid))
    return header.finishedAt === undefined && isSameSelection && isSameRequest(header, world)
  }
}

/** The error of an abort whose runs have ended meanwhile, by another abort or by a run that continued them. */
function endedMeanwhile(runs: readonly string[], finished: readonly PlacedLedger[]): RunError {
  const aborted = finished.flatMap(({ ledger: { header } }) => (runs.includes(header.run) ? (header.aborted ?? []) : []))
  const left = aborted.flatMap((one) => one.left)
  const others = aborted.reduce((sum, { more = 0 }) => sum + more, 0)
  return left.length > 0
    ? new RunError('conflict', { code: 'aborted-but', left, ...(others > 0 && { more: others }) })
    : new RunError('aborted', { code: 'run-ended-meanwhile' })
}

/** The run to undo tells more than the images that are left to put back. */
function isSameRequest({ images, undoes }: LedgerHeader, { plan, undoing }: World): boolean {
  if (undoes !== undefined || undoing() !== undefined) return undoes === undoing()?.run
  const text = (list: readonly ContainerImage[]): string =>
    JSON.stringify(list.map(({ container, image }) => [container, image]).toSorted())
  return text(images) === text(plan().images)
}
