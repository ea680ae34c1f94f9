import type { Ledger, LedgerHeader, PlacedLedger } from '../../journal/ledger.ts'
import type { ContainerImage } from '../../pods/glossary.ts'
import { isSameWorkload } from '../../pods/workload-id.ts'
import { RunError } from '../errors.ts'
import { assertOrdered } from '../orders/order.ts'
import type { RunRequest } from '../request.ts'
import type { World } from '../world.ts'
import { isNamedBy } from './is-named-by.ts'

/** What the ledgers of a namespace are to a run. */
export interface ChosenLedgers {
  /** It is gone on with. */
  same: PlacedLedger | undefined
  /** Not finished, the newest first: what they left open is this run's to settle. */
  superseded: PlacedLedger[]
  finished: PlacedLedger[]
  /** Of other workloads alone. */
  elsewhere: Ledger[]
}

interface ChooseOptions {
  request: RunRequest
  world: World
}

/** @throws RunError where an abort finds nothing of what it is to end, or a later run */
export function chooseLedgers(all: readonly PlacedLedger[], { request, world }: ChooseOptions): ChosenLedgers {
  const uids = new Set(world.workloads.map(({ workload }) => workload.uid))
  // By name too: a workload that was deleted and made again has another uid, and the same Lease and targets.
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

  /** Of none of the workloads may a run that came later be open: to end those before it is to end that one. */
  function newestOrdered(runs: readonly string[]): PlacedLedger | undefined {
    for (const { workload } of world.workloads) {
      const newest = open.find(({ ledger: { header } }) => isNamedBy(header, workload.ref))
      if (newest) assertOrdered(newest.ledger.header.run, runs)
    }
    return open[0]
  }

  // The newest alone: what a ledger that came later has closed, one that is gone on with may not open again.
  function isGoneOnWith({ ledger: { header } }: PlacedLedger): boolean {
    const isSameSelection = header.workloads.length === uids.size && header.workloads.every(({ uid }) => uids.has(uid))
    return header.finishedAt === undefined && isSameSelection && isSameRequest(header, world)
  }
}

/** By another who was to end it too, or by who went on with it. */
function endedMeanwhile(runs: readonly string[], finished: readonly PlacedLedger[]): RunError {
  const aborted = finished.flatMap(({ ledger: { header } }) => (runs.includes(header.run) ? (header.aborted ?? []) : []))
  const left = aborted.flatMap((one) => one.left)
  const others = aborted.reduce((sum, { more = 0 }) => sum + more, 0)
  return left.length > 0
    ? new RunError('conflict', { code: 'aborted-but', left, ...(others > 0 && { more: others }) })
    : new RunError('aborted', { code: 'run-ended-meanwhile' })
}

/** What is to be undone says more than the images that are still to be put back. */
function isSameRequest({ images, undoes }: LedgerHeader, { plan, undoing }: World): boolean {
  if (undoes !== undefined || undoing() !== undefined) return undoes === undoing()?.run
  const text = (list: readonly ContainerImage[]): string =>
    JSON.stringify(list.map(({ container, image }) => [container, image]).toSorted())
  return text(images) === text(plan().images)
}
