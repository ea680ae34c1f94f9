import type { KubeClient, PatchOperation } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { reasonOf, RunError } from '../errors.ts'
import type { LeaseRecord } from '../../leases/lease.ts'
import { leaseName } from '../leases/lease-name.ts'
import { leasePath, leaseRecord } from '../../leases/lease.ts'
import type { OpenRuns } from './open-runs.ts'
import type { Order, SingleOrder } from './order.ts'
import { ORDER_ANNOTATION, orderFor, readOrder, withOrder, withoutPause, writeOrder } from './order.ts'

/** The tries of a write. A renewal of the owner, once in four seconds, can come between. */
const MOST_TRIES = 5
const PATH = `/metadata/annotations/${ORDER_ANNOTATION.replaceAll('/', '~1')}`

interface OrderOptions {
  client: KubeClient
  namespace: string
}

/**
 * Writes an order for all open runs to the Leases of their workloads, beside the orders for other runs. Idempotent. Returns the runs that
 * the order means: an aborted run is not paused. Throws a RunError where all runs are being aborted, or where the order may stand and that
 * is not known.
 */
export async function giveOrder(
  { refs, runs, leases }: OpenRuns,
  { order, by }: Pick<Order, 'order' | 'by'>,
  options: OrderOptions,
): Promise<string[]> {
  const asked = new Set(refs.map(leaseName))
  const abortOf = (run: string, standing: readonly (Order | undefined)[]): SingleOrder | undefined => {
    const given = order === 'abort' ? undefined : orderFor(run, standing)
    return given?.order === 'abort' ? given : undefined
  }
  let meant = runs.map(({ run }) => run)
  /** Removes the runs that are being aborted. A run that began after an abort of another one can still be paused. */
  const leaveAborted = (standing: readonly (Order | undefined)[]): void => {
    const [first] = meant.flatMap((run) => abortOf(run, standing) ?? [])
    meant = meant.filter((run) => !abortOf(run, standing))
    if (first && meant.length === 0) throw beingAborted(first)
  }
  leaveAborted(leases.map(({ annotations }) => readOrder(annotations)))
  await changeAll(leases, options, (now) => {
    const standing = readOrder(now.annotations)
    leaveAborted([standing])
    const epoch = asked.has(now.name) && now.holder !== '' ? now.transitions : undefined
    const given = meant.map((run) => orderFor(run, [standing]))
    const isGiven = given.every((one) => one?.order === order)
    // The order is written again for a new owner, which may be about to begin a run.
    if (isGiven && (epoch === undefined || given.some((one) => one?.epoch === epoch))) return undefined
    const first = isGiven ? given[0]!.by : by
    return toWrite(now, withOrder(standing, { order, runs: meant, by: first, ...(epoch === undefined ? {} : { epoch }) }))
  })
  return meant
}

/** Throws without Leases, which may have been deleted: an order would have no place where a process reads it. */
export function assertLeased({ asked, runs, leases }: OpenRuns): void {
  if (leases.length > 0) return
  throw new RunError('preflight', { code: 'no-lease-for-order', runs: runs.map(({ run }) => run), asked })
}

/** A lifted pause: its giver and its runs. */
export interface LiftedPause {
  by: string
  runs: string[]
  /** The runs that are being aborted. Their order stays. */
  aborted: string[]
}

/** Lifts the pause. Resolves with undefined where none of the runs is paused. */
export async function liftPause({ runs, leases }: OpenRuns, options: OrderOptions): Promise<LiftedPause | undefined> {
  const open = runs.map(({ run }) => run)
  const pausedBy = new Map<string, string>()
  const aborted = new Map<string, SingleOrder>()
  await changeAll(leases, options, (now) => {
    const standing = readOrder(now.annotations)
    const paused: string[] = []
    for (const run of open) {
      const given = orderFor(run, [standing])
      if (given?.order === 'abort') aborted.set(run, given)
      if (given?.order === 'pause') paused.push(run)
      if (given?.order === 'pause') pausedBy.set(run, given.by)
    }
    // The pause stays for other runs that it means.
    return paused.length === 0 ? undefined : toWrite(now, withoutPause(standing, paused))
  })
  const lifted = [...pausedBy].filter(([run]) => !aborted.has(run))
  const [first] = lifted
  const [abort] = aborted.values()
  if (first === undefined && abort) throw beingAborted(abort)
  return first && { by: first[1], runs: lifted.map(([run]) => run), aborted: [...aborted.keys()] }
}

function beingAborted({ by, runs }: SingleOrder): RunError {
  return new RunError('conflict', { code: 'being-aborted', runs, by })
}

function toWrite({ annotations }: LeaseRecord, order: Order | undefined): PatchOperation[] {
  if (order === undefined) return [{ op: 'remove', path: PATH }]
  const value = writeOrder(order)
  return Object.keys(annotations).length === 0
    ? [{ op: 'add', path: '/metadata/annotations', value: { [ORDER_ANNOTATION]: value } }]
    : [{ op: 'add', path: PATH, value }]
}

type Decide = (now: LeaseRecord) => PatchOperation[] | undefined

/** Changes the Leases one after another. Where one is changed, or may be, and another fails, the error tells that the order may stand. */
async function changeAll(leases: readonly LeaseRecord[], options: OrderOptions, decide: Decide): Promise<void> {
  let mayStand = false
  for (const lease of leases) {
    try {
      await change(lease, options, decide, () => {
        mayStand = true
      })
    } catch (error) {
      if (!mayStand || error instanceof RunError) throw error
      throw new RunError('deadline', { code: 'order-may-stand', because: reasonOf(error) }, { cause: error })
    }
  }
}

/** Changes one Lease, guarded by its version. Where the version has moved on, the change is decided anew. */
async function change(
  lease: LeaseRecord,
  { client, namespace }: OrderOptions,
  decide: Decide,
  onSent: () => void,
): Promise<void> {
  const path = leasePath(namespace, lease.name)
  let now = lease
  for (let tries = 1; ; tries++) {
    const operations = decide(now)
    if (operations === undefined) return
    try {
      await client.patch(path, [{ op: 'test', path: '/metadata/resourceVersion', value: now.resourceVersion }, ...operations])
      onSent()
      return
    } catch (error) {
      const isAmbiguous = error instanceof KubeError && error.kind === 'ambiguous'
      if (isAmbiguous) onSent()
      const isStale = isAmbiguous || (error instanceof KubeError && (error.status === 422 || error.kind === 'conflict'))
      if (!isStale || tries === MOST_TRIES) throw error
      now = leaseRecord(await client.get(path))
    }
  }
}
