import type { KubeClient } from '../../kube/client.ts'
import { withinLimit } from '../../kube/within-limit.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Clock } from '../../ports/clock.ts'

/** The limit is short, since the answer only decides which commands are printed. */
const LIMIT_MS = 5_000

/**
 * Reports whether an abort that ended in a conflict has still ended the run and the runs before it. An edited template leaves the run
 * ended; a pod that stays out, or a lost Lease, leaves the run open. Without an answer the run counts as open: a command that finds
 * nothing to do does less harm than a missing one.
 */
export async function isRunOver(
  run: string,
  { namespace, workloads }: Pick<Plan, 'namespace' | 'workloads'>,
  { client, clock }: { client: KubeClient; clock: Clock },
): Promise<boolean> {
  let isOver = false
  await withinLimit(clock, LIMIT_MS, async () => {
    const { readOpenRuns } = await import('../../engine/orders/open-runs.ts')
    const { orderFor, readOrder } = await import('../../engine/orders/order.ts')
    const { runs, leases } = await readOpenRuns(client, { namespace, select: { refs: workloads } })
    // A run that began later belongs to another operator, and is not among the runs of the order.
    const given = leases.flatMap(({ annotations }) => orderFor(run, [readOrder(annotations)]) ?? [])
    const meant = new Set([run, ...given.flatMap((order) => order.runs)])
    isOver = !runs.some((open) => meant.has(open.run))
  })
  return isOver
}
