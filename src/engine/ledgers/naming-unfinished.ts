import type { KubeClient } from '../../kube/client.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import { WorkloadError } from '../../workloads/errors.ts'
import { RunError } from '../errors.ts'
import { unsettledOf } from './unsettled.ts'

const GONE_FOR_GOOD =
  'if the workload is gone for good, say of each of them how it stands (sluice resolve), and sluice cleanup removes the record'

/** While one of several is there, sluice cleanup leaves the record to those who go on with it. */
const OTHERS_ALONE = 'ask for those that are there alone, which goes on with what is theirs'

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
    const wayOut = unfinished.refs.length > 1 ? `${OTHERS_ALONE}; ${GONE_FOR_GOOD}` : GONE_FOR_GOOD
    const left = (await inWords(unfinished)).map((one) => (isNotThere ? `${one}; ${wayOut}` : one))
    if (left.length === 0) return error
    const message = [error.message, ...left].join('; ')
    return isUnseen
      ? new RunError(error.kind, message, { cause: error })
      : new WorkloadError('not-found', message, { cause: error })
  } catch {
    // What has kept the run from beginning counts for more.
    return error
  }
}

async function inWords({ client, namespace, refs, isHome = () => false }: Unfinished): Promise<string[]> {
  const { open, forGood } = await unsettledOf(client, namespace, refs)
  const named = (entries: typeof open, words: (run: string, pods: string) => string): string[] =>
    Array.from(
      Map.groupBy(entries, ({ run }) => run),
      ([run, ofRun]) => words(run, ofRun.map(({ pod }) => pod).join(', ')),
    )
  return [
    ...named(
      open.filter(({ uid }) => !isHome(uid)),
      (run, pods) => `run ${run} is not finished, and may have left half done: ${pods}`,
    ),
    ...named(
      forGood,
      (run, pods) => `run ${run} has left out of rotation what was drained for pods that are gone for good: ${pods}`,
    ),
  ]
}
