import { type Access, type AccessCheck, checkAccess } from '../kube/access.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Reason } from '../reasons/reason.ts'
import { reasonOf, RunError } from './errors.ts'
import { documentLease } from './locks/document-lease.ts'
import type { DocumentLock, LoadBalancer, RunRequest } from './request.ts'
import { KINDS } from '../workloads/kinds/index.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import { rightName, rightsFor, rightsOfLocks, rightsOfRun } from './rights.ts'

/**
 * Asks the API server whether the run has its rights, so that a missing right shows before any change. Returns a warning where the server
 * cannot be asked.
 * @throws RunError of kind `preflight` that names each verb and resource
 */
export async function checkRights(
  client: KubeClient,
  { namespace, select, kinds = KINDS }: Pick<RunRequest, 'namespace' | 'select'> & { kinds?: Kinds | undefined },
): Promise<Reason | undefined> {
  const rights = rightsOfRun('refs' in select ? rightsFor(select.refs, kinds) : []).filter(({ isOptional }) => !isOptional)
  const checks = rights.flatMap((right) => checksOf(right, namespace))
  return deniedOf(await checkAccess(client, checks), namespace)
}

/**
 * Checks the rights on the Leases of the load balancers' locks, each in its own cluster and namespace.
 * @throws RunError of kind `preflight`, also where the cluster of a Lease cannot be asked
 */
export async function checkLocks(loadBalancers: readonly LoadBalancer[]): Promise<Reason[]> {
  const unasked = await Promise.all(loadBalancers.map(({ lock }) => lock && checkLock(lock)))
  return unasked.filter((reason) => reason !== undefined)
}

async function checkLock(lock: DocumentLock): Promise<Reason | undefined> {
  const { client, namespace } = lock
  const lease = documentLease(lock)
  const checks = rightsOfLocks([lease]).flatMap((right) => checksOf(right, namespace))
  const access = await checkAccess(client, checks).catch((error: unknown) => {
    const reason = { code: 'document-not-locked', lease, namespace, because: reasonOf(error) } as const
    throw new RunError('preflight', reason, { cause: error })
  })
  return deniedOf(access, namespace)
}

function deniedOf({ denied, unasked }: Access, namespace: string): Reason | undefined {
  if (denied.length > 0) {
    const missing = [...new Set(denied.map(({ check }) => rightName(check)))]
    throw new RunError('preflight', { code: 'rights-missing', namespace, rights: missing })
  }
  return unasked && { code: 'rights-not-asked', because: reasonOf(unasked) }
}

function checksOf(right: ReturnType<typeof rightsOfRun>[number], namespace: string): AccessCheck[] {
  const { group, resource, subresource, verbs, names = [undefined] } = right
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
