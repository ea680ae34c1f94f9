import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LeaseRecord } from '../leases/lease.ts'
import { leaseBody, leaseName, leasePath, LOOK_EVERY_MS } from '../leases/lease.ts'
import { readLeasePatiently } from '../leases/read-lease.ts'
import type { SingleOrder } from './order.ts'
import { ORDER_ANNOTATION, orderFor, ordersIn, readOrder, withOrder, writeOrder } from './order.ts'

/** A renewal of this owner may come in between, or another order. */
const MOST_TRIES = 5

export interface JoinOptions {
  client: KubeClient
  clock: Clock
  signal: AbortSignal
  namespace: string
  /** Whose Leases this owner has. */
  refs: readonly WorkloadId[]
  /** On record by now: from here on who gives an order finds it. */
  run: string
  /** By a renewal. */
  isHeard(): boolean
  assertOwned(): Promise<void>
}

/**
 * Names the run in what was ordered of its workloads since this owner has their Leases, and waits until that is heard. Found by
 * reading: the run was not on record yet, an order meant only the one before it, and it drained pods that were said to be paused.
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
      // It may be lifted before this owner has heard of it.
      if (!(await pause(clock, LOOK_EVERY_MS, signal))) return
      continue
    }
    const given = givenTo(record.transitions, ordersIn(standing))
    if (given === undefined) return
    // After the look: so that it was this owner's Lease then.
    await options.assertOwned()
    tries += 1
    try {
      await write(record, writeOrder(withOrder(standing, { ...given, runs: [run, ...given.runs] })), options)
    } catch (error) {
      if (!(error instanceof KubeError) || tries === MOST_TRIES) throw error
      // Unless it was a renewal, or another order, that has come in between.
      if (error.kind !== 'conflict') await pause(clock, LOOK_EVERY_MS, signal)
    }
  }
}

function givenTo(epoch: number, orders: readonly SingleOrder[]): SingleOrder | undefined {
  const given = orders.filter((one) => one.epoch === epoch)
  return given.find(({ order }) => order === 'abort') ?? given[0]
}

/** As a renewal does: whoever may run need not have the right to give orders. */
async function write(record: LeaseRecord, text: string, { client, clock, namespace }: JoinOptions): Promise<void> {
  const { name, holder, transitions } = record
  const annotations = { ...record.annotations, [ORDER_ANNOTATION]: text }
  const body = leaseBody({ namespace, name, holder, transitions, renewedAt: clock.wallNow(), found: record, annotations })
  await client.replace(leasePath(namespace, name), body)
}
