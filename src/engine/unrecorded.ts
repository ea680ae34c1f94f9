import type { KubeClient } from '../kube/client.ts'
import type { WorkloadId } from '../pods/workload-id.ts'
import type { Clock } from '../ports/clock.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import { readStatus } from './status/read-status.ts'

interface Options {
  client: KubeClient
  clock: Clock
  namespace: string
  refs: WorkloadId[]
  kinds?: Kinds
}

/** What may be left half done of these workloads where no ledger tells of an open run: it was removed, or cannot be read. */
export async function findUnrecorded({ namespace, refs, ...ports }: Options): Promise<string[]> {
  const { workloads, unreadable } = await readStatus({ namespace, refs }, ports)
  return [
    ...workloads.flatMap(({ pods }) =>
      pods.flatMap(({ name, state }) => (state === 'closed' ? [] : [`pod/${name} is half done`])),
    ),
    ...unreadable.map(({ run }) => `the record of run ${run} cannot be read`),
  ]
}
