import type { KubeClient } from '../kube/client.ts'
import { isNotFound, KubeError } from '../kube/errors.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import type { Kinds } from './kinds/kinds.ts'
import { knownKind } from './known-kind.ts'
import { resourceOf } from './resources.ts'
import { notFound } from './watch.ts'

/** Throws a WorkloadError if the workload, or its kind, does not exist. */
export async function assertExists(ref: WorkloadRef, { client, kinds }: { client: KubeClient; kinds: Kinds }): Promise<void> {
  const resource = resourceOf(knownKind(kinds, ref))
  try {
    await client.get(resource.object(ref.namespace, ref.name))
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    if (isNotFound(error)) throw notFound(ref)
    // A 403 does not tell whether the workload exists.
    if (error.status !== 403) throw error
  }
}
