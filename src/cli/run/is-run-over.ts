import type { KubeClient } from '../../kube/client.ts'
import { withinLimit } from '../../kube/within-limit.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Clock } from '../../ports/clock.ts'

/** It decides only what is said to be typed next: nobody waits long for that. */
const LIMIT_MS = 5_000

/**
 * Whether an abort that ended in a conflict has ended the run, and those before it, all the same. It has where a template that
 * somebody has edited was left as it is, and not where a pod stays out, or the Lease was lost. Where it cannot be told, it has not:
 * a command that finds nothing to do does less harm than none where there is.
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
    // One that has begun since is somebody else's, and none of those that the order means.
    const given = leases.flatMap(({ annotations }) => orderFor(run, [readOrder(annotations)]) ?? [])
    const meant = new Set([run, ...given.flatMap((order) => order.runs)])
    isOver = !runs.some((open) => meant.has(open.run))
  })
  return isOver
}
