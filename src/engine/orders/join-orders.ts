import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LeaseRecord } from '../../leases/lease.ts'
import { leaseBody, leasePath, LOOK_EVERY_MS } from '../../leases/lease.ts'
import { leaseName } from '../leases/lease-name.ts'
import { readLeasePatiently } from '../../leases/read-lease.ts'
import type { SingleOrder } from './order.ts'
import { ORDER_ANNOTATION, orderFor, ordersIn, readOrder, withOrder, writeOrder } from './order.ts'

/** The tries of a write. A renewal of this owner, or another order, can come between. */
const MOST_TRIES = 5

export interface JoinOptions {
  client: KubeClient
  clock: Clock
  signal: AbortSignal
  namespace: string
  /** The workloads whose Leases this owner has. */
  refs: readonly WorkloadId[]
  /** The run. It is on record, so that later orders find it. */
  run: string
  /** Reports whether a renewal has read the order. */
  isHeard(): boolean
  assertOwned(): Promise<void>
}

/**
 * Adds the new run to the orders that were given to this owner before the run was on record, and waits until they are heard. Without that,
 * the run would drain pods although an order says that they are paused.
 */
export async function joinOrders(options: JoinOptions): Promise<void> {
  await Promise.all(options.refs.map((ref) => joinOne(leaseName(ref), options)))
}

async function joinOne(name: string, options: JoinOptions): Promise<void> {
  const { clock, signal, run, isHeard } = options
  let tries = 0
  for (;;) {
    const record = await readLeasePatiently({ ...options, name })
    if (record === undefined) return
    const standing = readOrder(record.annotations)
    if (orderFor(run, [standing]) !== undefined) {
      if (isHeard()) return
      await options.assertOwned()
      // The order may be lifted before this owner has heard of it.
      if (!(await pause(clock, LOOK_EVERY_MS, signal))) return
      continue
    }
    const given = givenTo(record.transitions, ordersIn(standing))
    if (given === undefined) return
    // The check comes after the look, so that the Lease was this owner's at the look.
    await options.assertOwned()
    tries += 1
    try {
      await write(record, writeOrder(withOrder(standing, { ...given, runs: [run, ...given.runs] })), options)
    } catch (error) {
      if (!(error instanceof KubeError) || tries === MOST_TRIES) throw error
      // A conflict, from a renewal or another order, is tried again at once.
      if (error.kind !== 'conflict') await pause(clock, LOOK_EVERY_MS, signal)
    }
  }
}

function givenTo(epoch: number, orders: readonly SingleOrder[]): SingleOrder | undefined {
  const given = orders.filter((one) => one.epoch === epoch)
  return given.find(({ order }) => order === 'abort') ?? given[0]
}

/** Writes by a replace, as a renewal does: a run need not have the right to give orders. */
async function write(record: LeaseRecord, text: string, { client, clock, namespace }: JoinOptions): Promise<void> {
  const { name, holder, transitions } = record
  const annotations = { ...record.annotations, [ORDER_ANNOTATION]: text }
  const body = leaseBody({ namespace, name, holder, transitions, renewedAt: clock.wallNow(), found: record, annotations })
  await client.replace(leasePath(namespace, name), body)
}
