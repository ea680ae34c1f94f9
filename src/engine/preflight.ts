import { type AccessCheck, checkAccess } from '../kube/access.ts'
import type { KubeClient } from '../kube/client.ts'
import { RunError } from './errors.ts'
import type { RunRequest } from './request.ts'

const APPS = 'apps'
const OWNERS: Record<string, { resources: string[]; verbs: string[] }[]> = {
  StatefulSet: [
    { resources: ['statefulsets'], verbs: ['get', 'list', 'watch', 'patch'] },
    { resources: ['controllerrevisions'], verbs: ['list', 'watch'] },
  ],
  DaemonSet: [
    { resources: ['daemonsets'], verbs: ['get', 'list', 'watch', 'patch'] },
    { resources: ['controllerrevisions'], verbs: ['list', 'watch'] },
  ],
  Deployment: [{ resources: ['deployments', 'replicasets'], verbs: ['list', 'watch'] }],
  Pod: [],
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
  const check = (group: string, resource: string, verbs: string[]): AccessCheck[] =>
    verbs.map((verb) => ({ verb, ...(group === '' ? {} : { group }), resource, namespace }))
  const kinds = 'refs' in select ? new Set(select.refs.map(({ kind }) => kind)) : new Set<string>()
  const checks = [
    ...check('', 'pods', ['get', 'list', 'watch', 'patch']),
    { verb: 'patch', resource: 'pods', subresource: 'status', namespace },
    ...check('', 'configmaps', ['get', 'list', 'create', 'patch', 'delete']),
    ...check('coordination.k8s.io', 'leases', ['get', 'create', 'update']),
    ...check('discovery.k8s.io', 'endpointslices', ['list', 'watch']),
    ...[...kinds].flatMap((kind) =>
      OWNERS[kind]!.flatMap(({ resources, verbs }) => resources.flatMap((one) => check(APPS, one, verbs))),
    ),
  ]
  const denied = await checkAccess(client, checks)
  if (denied.length === 0) return
  const rights = denied.map(({ check: { verb, resource, subresource, group } }) => {
    return `${verb} ${resource}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}`
  })
  throw new RunError(
    'preflight',
    `not allowed in namespace ${namespace}: ${rights.join(', ')}; deploy/rbac.yaml lists the rights that a run needs`,
  )
}
