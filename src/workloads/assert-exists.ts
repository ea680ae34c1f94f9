import type { KubeClient } from '../kube/client.ts'
import { isNotFound, KubeError } from '../kube/errors.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import type { Kinds } from './kinds/kinds.ts'
import { resourceOf } from './resources.ts'
import { notFound } from './watch.ts'

/** Throws a WorkloadError where there is no such workload. */
export async function assertExists(ref: WorkloadRef, { client, kinds }: { client: KubeClient; kinds: Kinds }): Promise<void> {
  const kind = kinds.kindOf(ref)
  // Of a kind that is not known here it cannot be asked for.
  if (kind === undefined) return
  try {
    await client.get(resourceOf(kind).object(ref.namespace, ref.name))
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    if (isNotFound(error)) throw notFound(ref)
    // Not allowed to look: then nobody says that it is not there.
    if (error.status !== 403) throw error
  }
}
