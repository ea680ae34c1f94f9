import type { ReasonOf } from '../reasons/reason.ts'
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

/** What may be left half done without a record that can be read: a pod, or a run. */
export type Unrecorded = ReasonOf<'half-done-without-record' | 'record-of-run-unreadable'>

/** What may be left half done of these workloads where no ledger tells of an open run: it was removed, or cannot be read. */
export async function findUnrecorded({ namespace, refs, ...ports }: Options): Promise<Unrecorded[]> {
  const { workloads, unreadable } = await readStatus({ namespace, refs }, ports)
  return [
    ...workloads.flatMap(({ pods }) =>
      pods.flatMap(({ name, state }) => (state === 'closed' ? [] : [{ code: 'half-done-without-record', pod: name } as const])),
    ),
    ...unreadable.map(({ run }) => ({ code: 'record-of-run-unreadable', run }) as const),
  ]
}
