import type { Reason } from '../../reasons/reason.ts'
import type { PlacedLedger } from '../../journal/ledger.ts'
import { reasonOf } from '../errors.ts'
import { chooseLedgers } from '../ledgers/choose-ledgers.ts'
import { listLedgers } from '../ledgers/list-ledgers.ts'
import type { SeenLease } from '../leases/ownership.ts'
import type { RunPorts, RunRequest } from '../request.ts'
import type { World } from '../world.ts'
import { ordersIn, readOrder } from './order.ts'

/**
 * The orders on the Leases for the run that this request would continue, as warnings of the plan: an upgrade obeys them. A pause of a run
 * that the request takes over is also a warning, since the upgrade does not obey it. An abort of such a run is none.
 */
export async function standingOrders(
  seen: ReadonlyMap<string, SeenLease>,
  choice: { request: RunRequest; world: World },
  { client }: Pick<RunPorts, 'client'>,
): Promise<Reason[]> {
  const orders = Array.from(seen.values()).flatMap(({ record }) => ordersIn(readOrder(record.annotations)))
  if (orders.length === 0) return []
  const { namespace, undo, exitWhenPaused = false } = choice.request
  let found: PlacedLedger[]
  try {
    found = (await listLedgers(client, namespace)).filter((one) => one.kind === 'read')
  } catch (error) {
    return [{ code: 'orders-not-known', because: reasonOf(error) }]
  }
  const { same, superseded } = chooseLedgers(found, choice)
  const run = same?.ledger.header.run
  const behind = new Set(superseded.map(({ ledger }) => ledger.header.run))
  const command = undo === undefined ? 'upgrade' : 'undo'
  const told = new Map<string, Reason>()
  for (const { order, runs, by } of orders) {
    if (run !== undefined && runs.includes(run))
      told.set(JSON.stringify([order, by]), { code: 'run-ordered', run, order, by, command, exitWhenPaused })
    for (const left of order === 'pause' ? runs : [])
      if (behind.has(left)) told.set(left, { code: 'pause-left-behind', run: left, by })
  }
  return [...told.values()]
}
