import type { PlacedLedger } from '../../journal/ledger.ts'
import { messageOf } from '../errors.ts'
import { chooseLedgers } from '../ledgers/choose-ledgers.ts'
import { listLedgers } from '../ledgers/list-ledgers.ts'
import type { SeenLease } from '../leases/ownership.ts'
import type { RunPorts, RunRequest } from '../request.ts'
import type { World } from '../world.ts'
import { ordersIn, readOrder } from './order.ts'

/**
 * What has been ordered of the run that this request would go on with, in words. Found by reading: a plan had read it with the Lease,
 * and said how many pods it would upgrade; the upgrade ended the run, or waited. Found by a fresh user: it was said of each run that was
 * open, also of one that this leaves behind; and the undo that took back nothing, by its warning, took back all.
 */
export async function standingOrders(
  seen: ReadonlyMap<string, SeenLease>,
  choice: { request: RunRequest; world: World },
  { client }: Pick<RunPorts, 'client'>,
): Promise<string[]> {
  const orders = Array.from(seen.values()).flatMap(({ record }) => ordersIn(readOrder(record.annotations)))
  if (orders.length === 0) return []
  const { namespace, undo, exitWhenPaused = false } = choice.request
  let found: PlacedLedger[]
  try {
    found = (await listLedgers(client, namespace)).filter((one) => one.kind === 'read')
  } catch (error) {
    return [`something has been ordered of a run here, and which are open could not be asked: ${messageOf(error)}`]
  }
  const run = chooseLedgers(found, choice).same?.ledger.header.run
  const words = orders.flatMap(({ order, runs, by }) => {
    if (run === undefined || !runs.includes(run)) return []
    const said = order === 'abort' ? 'is being aborted' : 'is paused'
    const [command, does] = undo === undefined ? ['upgrade', 'upgrades'] : ['undo', 'takes back']
    const waits = exitWhenPaused ? 'exits with 5' : 'waits'
    const then = order === 'abort' ? `ends it, and ${does} nothing` : `and ${waits} until sluice resume, or sluice abort`
    return [`run ${run} ${said} (by ${by}): this ${command} goes on with it, ${then}`]
  })
  return [...new Set(words)]
}
