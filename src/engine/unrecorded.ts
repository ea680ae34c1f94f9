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

/** A pod or a run that may be half done, and has no readable record. */
export type Unrecorded = ReasonOf<'half-done-without-record' | 'record-of-run-unreadable'>

/** Finds the half-done pods of these workloads for which no ledger has an open run. The ledger was removed, or cannot be read. */
export async function findUnrecorded({ namespace, refs, ...ports }: Options): Promise<Unrecorded[]> {
  const { workloads, unreadable } = await readStatus({ namespace, refs }, ports)
  return [
    ...workloads.flatMap(({ pods }) =>
      pods.flatMap(({ name, state }) => (state === 'closed' ? [] : [{ code: 'half-done-without-record', pod: name } as const])),
    ),
    ...unreadable.map(({ run }) => ({ code: 'record-of-run-unreadable', run }) as const),
  ]
}
