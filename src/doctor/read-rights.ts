import { reasonOf } from '../engine/errors.ts'
import { type Right, rightName, rightsOfLocks, rightsOfRun } from '../engine/rights.ts'
import { documentLease } from '../engine/locks/document-lease.ts'
import type { DocumentLock } from '../engine/request.ts'
import { type AccessCheck, checkAccess } from '../kube/access.ts'
import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import type { WorkloadId } from '../pods/workload-id.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import type { BalancerState, Rights } from './gathered.ts'

/** Checks the rights of a run of these workloads; without workloads, those that every run needs. */
export async function readRights(
  client: KubeClient,
  namespace: string,
  { workloads, kinds }: { workloads: readonly WorkloadId[]; kinds: Kinds },
): Promise<Rights> {
  const known = workloads.flatMap((ref) => {
    const kind = kinds.kindOf(ref)
    return kind === undefined ? [] : [{ kind, name: ref.name }]
  })
  return askedFor(client, rightsOfRun(known), namespace)
}

/** Checks the rights on the Lease of a document, in the cluster of the Lease. */
export async function readLock(lock: DocumentLock): Promise<NonNullable<BalancerState['lock']>> {
  const { client, namespace } = lock
  try {
    return await askedFor(client, rightsOfLocks([documentLease(lock)]), namespace)
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    return { namespace, missing: [], unreachable: reasonOf(error) }
  }
}

async function askedFor(client: KubeClient, rights: readonly Right[], namespace: string): Promise<Rights> {
  const checks = rights.filter(({ isOptional }) => !isOptional).flatMap((right) => checksOf(right, namespace))
  const { denied, unasked } = await checkAccess(client, checks)
  const missing = [...new Set(denied.map(({ check }) => rightName(check)))]
  return { namespace, missing, ...(unasked === undefined ? {} : { unasked: reasonOf(unasked) }) }
}

function checksOf({ group, resource, subresource, verbs, names: known }: Right, namespace: string): AccessCheck[] {
  const names: readonly (string | undefined)[] = known ?? [undefined]
  return verbs.flatMap((verb) =>
    names.map((name) => ({
      verb,
      ...(group === '' ? {} : { group }),
      resource,
      ...(subresource === undefined ? {} : { subresource }),
      namespace,
      ...(name === undefined ? {} : { name }),
    })),
  )
}
