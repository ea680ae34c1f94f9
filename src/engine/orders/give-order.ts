import type { KubeClient, PatchOperation } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { reasonOf, RunError } from '../errors.ts'
import type { LeaseRecord } from '../leases/lease.ts'
import { leaseName, leasePath, leaseRecord } from '../leases/lease.ts'
import type { OpenRuns } from './open-runs.ts'
import type { Order, SingleOrder } from './order.ts'
import { ORDER_ANNOTATION, orderFor, readOrder, withOrder, withoutPause, writeOrder } from './order.ts'

/** A renewal of the owner may come in between, once in four seconds. */
const MOST_TRIES = 5
const PATH = `/metadata/annotations/${ORDER_ANNOTATION.replaceAll('/', '~1')}`

interface OrderOptions {
  client: KubeClient
  namespace: string
}

/**
 * Writes an order for all open runs to the Leases of their workloads, beside what stands there of others. Idempotent. Answers the runs
 * that it means: an abort is never taken back, so those that are being aborted are not paused. Throws a RunError where all are; and
 * where the order may stand, and that cannot be known.
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
  /** Found by reading: one that had been begun after the order to abort another could not be paused. */
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
    // Once more, to another owner: that one has not heard it yet, for the run that it may be about to begin.
    if (isGiven && (epoch === undefined || given.some((one) => one?.epoch === epoch))) return undefined
    const first = isGiven ? given[0]!.by : by
    return toWrite(now, withOrder(standing, { order, runs: meant, by: first, ...(epoch === undefined ? {} : { epoch }) }))
  })
  return meant
}

/** Somebody may have deleted them: then an order would stand nowhere, and nobody would find it. */
export function assertLeased({ asked, runs, leases }: OpenRuns): void {
  if (leases.length > 0) return
  throw new RunError('preflight', { code: 'no-lease-for-order', runs: runs.map(({ run }) => run), asked })
}

/** Whose pause was lifted, of which runs. */
export interface LiftedPause {
  by: string
  runs: string[]
  /** Those that are being aborted, as before. */
  aborted: string[]
}

/** Takes the pause off. Undefined where none of the runs is paused. */
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
    // Of the others that it means nobody has said that they may go on.
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

/** One after another. Where one of them is changed, or may be, and another cannot be, nobody may take that for nothing done. */
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

/** Guarded by the version, and decided anew on what is there when that has moved on. */
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
