import { type AccessCheck, checkAccess } from '../kube/access.ts'
import type { KubeClient } from '../kube/client.ts'
import { RunError } from './errors.ts'
import { leaseName } from './leases/lease.ts'
import type { RunRequest } from './request.ts'

const APPS = 'apps'
/** Verbs on the workload itself, which is asked for by its name, and what its controller makes for it. */
const OWNERS: Record<string, { verbs: string[]; made: string } | undefined> = {
  StatefulSet: { verbs: ['get', 'list', 'watch', 'patch'], made: 'controllerrevisions' },
  DaemonSet: { verbs: ['get', 'list', 'watch', 'patch'], made: 'controllerrevisions' },
  Deployment: { verbs: ['list', 'watch'], made: 'replicasets' },
}

/**
 * Asks the API server whether the run will be allowed what it needs, so that a missing right shows before anything is
 * touched and not with a pod drained.
 * @throws RunError of kind `preflight` that names each verb and resource
 */
export async function checkRights(
  client: KubeClient,
  { namespace, select }: Pick<RunRequest, 'namespace' | 'select'>,
): Promise<void> {
  const check = (group: string, resource: string, verbs: string[], name?: string): AccessCheck[] =>
    verbs.map((verb) => ({
      verb,
      ...(group === '' ? {} : { group }),
      resource,
      namespace,
      ...(name === undefined ? {} : { name }),
    }))
  const refs = 'refs' in select ? select.refs : []
  const made = new Set(refs.flatMap(({ kind }) => OWNERS[kind]?.made ?? []))
  // A right may be for some names alone. What stands above a pod is not known yet: then it must be for all.
  const areKnown = refs.length > 0 && refs.every(({ kind }) => OWNERS[kind])
  const leases = areKnown ? refs.map(leaseName) : [undefined]
  const checks = [
    ...check('', 'pods', ['get', 'list', 'watch', 'patch']),
    { verb: 'patch', resource: 'pods', subresource: 'status', namespace },
    ...check('', 'configmaps', ['get', 'list', 'create', 'patch', 'delete']),
    ...check('coordination.k8s.io', 'leases', ['create']),
    ...leases.flatMap((name) => check('coordination.k8s.io', 'leases', ['get', 'update'], name)),
    ...check('discovery.k8s.io', 'endpointslices', ['list', 'watch']),
    ...refs.flatMap(({ kind, name }) => check(APPS, `${kind.toLowerCase()}s`, OWNERS[kind]?.verbs ?? [], name)),
    ...[...made].flatMap((resource) => check(APPS, resource, ['list', 'watch'])),
  ]
  const denied = await checkAccess(client, checks)
  if (denied.length === 0) return
  const rights = denied.map(({ check: { verb, resource, subresource, group } }) => {
    return `${verb} ${resource}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}`
  })
  throw new RunError(
    'preflight',
    `not allowed in namespace ${namespace}: ${[...new Set(rights)].join(', ')}; deploy/rbac.yaml lists the rights that a run needs`,
  )
}
