import type { KubeClient } from '../kube/client.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import type { Clock } from '../ports/clock.ts'
import { readStatus } from './status/read-status.ts'

interface Options {
  client: KubeClient
  clock: Clock
  namespace: string
  refs: Pick<WorkloadRef, 'kind' | 'name'>[]
}

/** What may be left half done of these workloads where no ledger tells of an open run: it was removed, or cannot be read. */
export async function findUnrecorded({ client, clock, namespace, refs }: Options): Promise<string[]> {
  const { workloads, unreadable } = await readStatus({ namespace, refs }, { client, clock })
  return [
    ...workloads.flatMap(({ pods }) =>
      pods.flatMap(({ name, state }) => (state === 'closed' ? [] : [`pod/${name} is half done`])),
    ),
    ...unreadable.map(({ run }) => `the record of run ${run} cannot be read`),
  ]
}
