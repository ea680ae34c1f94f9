import type { KubeClient } from '../kube/client.ts'
import { isNotFound, KubeError } from '../kube/errors.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import type { Kinds } from './kinds/kinds.ts'
import { knownKind } from './known-kind.ts'
import { resourceOf } from './resources.ts'
import { notFound } from './watch.ts'

/** Throws a WorkloadError where there is no such workload, or no such kind. */
export async function assertExists(ref: WorkloadRef, { client, kinds }: { client: KubeClient; kinds: Kinds }): Promise<void> {
  const resource = resourceOf(knownKind(kinds, ref))
  try {
    await client.get(resource.object(ref.namespace, ref.name))
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    if (isNotFound(error)) throw notFound(ref)
    // Not allowed to look: then nobody says that it is not there.
    if (error.status !== 403) throw error
  }
}
