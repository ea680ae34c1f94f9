import { messageOf } from '../errors.ts'
import { listLedgers } from '../ledgers/list-ledgers.ts'
import { ordersIn, readOrder } from './order.ts'
import type { SeenLease } from '../leases/ownership.ts'
import type { RunPorts, RunRequest } from '../request.ts'

/**
 * What has been ordered of runs that are not finished, in words. Found by reading: a plan had read it with the Lease, and said how
 * many pods it would upgrade; the upgrade ended the run, or waited.
 */
export async function standingOrders(
  seen: ReadonlyMap<string, SeenLease>,
  { namespace, undo }: Pick<RunRequest, 'namespace' | 'undo'>,
  { client }: Pick<RunPorts, 'client'>,
): Promise<string[]> {
  const orders = Array.from(seen.values()).flatMap(({ record }) => ordersIn(readOrder(record.annotations)))
  if (orders.length === 0) return []
  let open: Set<string>
  try {
    const found = await listLedgers(client, namespace)
    const headers = found.flatMap((one) => (one.kind === 'read' ? [one.ledger.header] : []))
    open = new Set(headers.flatMap(({ run, finishedAt }) => (finishedAt === undefined ? [run] : [])))
  } catch (error) {
    return [`something has been ordered of a run here, and which are open could not be asked: ${messageOf(error)}`]
  }
  const words = orders.flatMap(({ order, runs, by }) => {
    const meant = runs.filter((run) => open.has(run)).join(', ')
    if (meant === '') return []
    const said = order === 'abort' ? 'is being aborted' : 'is paused'
    const [run, does] = undo === undefined ? ['an upgrade', 'upgrades'] : ['an undo', 'takes back']
    const then = order === 'abort' ? `ends it, and ${does} nothing` : 'waits until sluice resume, or sluice abort'
    return [`run ${meant} ${said} (by ${by}): ${run} that goes on with it ${then}`]
  })
  return [...new Set(words)]
}
