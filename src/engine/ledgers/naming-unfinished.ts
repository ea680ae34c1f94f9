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
  /** Its own journal says that the pod is not half done; absent where no pod is observed. */
  isHome?(uid: string): boolean
}

/**
 * What earlier runs may have left half done, beside what the error says: where not all could be looked at, since a workload is not
 * there, a load balancer does not answer, or the cluster cannot be watched any more. From the ledgers, and the pods' own journals
 * where these are known.
 */
export async function namingUnfinished(error: unknown, unfinished: Unfinished): Promise<unknown> {
  const isNotThere = error instanceof WorkloadError && error.kind === 'not-found'
  const isUnseen = error instanceof RunError && error.kind !== 'conflict'
  if (!isNotThere && !isUnseen) return error
  try {
    // While one of several workloads is there, sluice cleanup leaves the record to the runs that go on with it.
    const wayOut = { code: 'say-how-pods-stand', severalWorkloads: unfinished.refs.length > 1 } as const
    const left = (await leftBy(unfinished)).flatMap((one) => (isNotThere ? [one, wayOut] : [one]))
    if (left.length === 0) return error
    const reason = several(error.reason, ...left)
    return isUnseen
      ? new RunError(error.kind, reason, { cause: error })
      : new WorkloadError('not-found', reason, { cause: error })
  } catch {
    // What has kept the run from beginning counts for more.
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
