import type { Reason } from '../../reasons/reason.ts'
import { several } from '../../reasons/several.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import { WorkloadError } from '../../workloads/errors.ts'
import { RunError } from '../errors.ts'
import { unsettledOf } from './unsettled.ts'

export interface Unfinished {
  client: KubeClient
  namespace: string
  refs: readonly WorkloadId[]
  /** Reports whether the pod is not half done, by its own journal. Absent where no pod is observed. */
  isHome?(uid: string): boolean
}

/**
 * Adds to the error the pods that earlier runs may have left half done. It is for errors that keep the pods from being looked at: a missing
 * workload, a load balancer without an answer, a cluster that cannot be watched. The ledgers and the known journals are the source.
 */
export async function namingUnfinished(error: unknown, unfinished: Unfinished): Promise<unknown> {
  const isNotThere = error instanceof WorkloadError && error.kind === 'not-found'
  const isUnseen = error instanceof RunError && error.kind !== 'conflict'
  if (!isNotThere && !isUnseen) return error
  try {
    // While one of several workloads exists, `sluice cleanup` leaves the record to the runs that continue it.
    const wayOut = { code: 'say-how-pods-stand', severalWorkloads: unfinished.refs.length > 1 } as const
    const left = (await leftBy(unfinished)).flatMap((one) => (isNotThere ? [one, wayOut] : [one]))
    if (left.length === 0) return error
    const reason = several(error.reason, ...left)
    return isUnseen
      ? new RunError(error.kind, reason, { cause: error })
      : new WorkloadError('not-found', reason, { cause: error })
  } catch {
    // The first error matters more.
    return error
  }
}

async function leftBy({ client, namespace, refs, isHome = () => false }: Unfinished): Promise<Reason[]> {
  const { open, forGood } = await unsettledOf(client, namespace, refs)
  const byRun = (entries: typeof open): { run: string; pods: string[] }[] =>
    Array.from(
      Map.groupBy(entries, ({ run }) => run),
      ([run, ofRun]) => ({ run, pods: ofRun.map(({ pod }) => pod) }),
    )
  const halfDone = open.filter(({ uid }) => !isHome(uid))
  return [
    ...byRun(halfDone).map((some) => ({ code: 'left-half-done', ...some }) as const),
    ...byRun(forGood).map((some) => ({ code: 'left-out-for-good', ...some }) as const),
  ]
}
