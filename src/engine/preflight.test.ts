import { idNamed } from '../workloads/kinds/testing/id-named.ts'
import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Reason } from '../reasons/reason.ts'
import { parseAllDocuments } from 'yaml'
import type { Adapter } from '../../adapters/contract.ts'
import type { AccessCheck } from '../kube/access.ts'
import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import { field } from '../kube/json.ts'
import { documentLease } from './locks/document-lease.ts'
import { checkLocks, checkRights } from './preflight.ts'

/** The rights that a run of this kind asks for, where the server tells no rules. `denied` is refused. */
async function asked(kind: string, denied = ''): Promise<string[]> {
  const rights: string[] = []
  const client = {
    async create(path: string, body: unknown) {
      if (path.endsWith('selfsubjectrulesreviews')) return { status: { incomplete: true } }
      const { verb, resource, subresource } = field(field(body, 'spec'), 'resourceAttributes') as AccessCheck
      const right = `${verb} ${resource}${subresource ? `/${subresource}` : ''}`
      rights.push(right)
      return { status: { allowed: right !== denied } }
    },
  } as unknown as KubeClient
  await checkRights(client, { namespace: 'shop', select: { refs: [idNamed(kind, 'web')] } })
  return rights
}

const role = parseAllDocuments(readFileSync(new URL('../../deploy/rbac.yaml', import.meta.url), 'utf8'))
  .map((one) => one.toJS())
  .find(({ kind }) => kind === 'Role')

/** A server that tells these rules, and grants no other right. */
function ruledBy(resourceRules: object[]): KubeClient {
  return {
    create: async (path: string) => ({
      status: path.endsWith('selfsubjectrulesreviews') ? { incomplete: false, resourceRules } : { allowed: false },
    }),
  } as unknown as KubeClient
}

const granted: string[] = role.rules.flatMap(({ resources, verbs }: { resources: string[]; verbs: string[] }) =>
  resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
)

test.each(['StatefulSet', 'DaemonSet', 'Deployment', 'Pod'] as const)(
  'a run of a %s asks for no more than the role gives',
  async (kind) => {
    expect(granted).toEqual(expect.arrayContaining(await asked(kind)))
  },
)

test.each(['StatefulSet', 'DaemonSet'] as const)(
  'what a %s needs only where an answer is lost is asked for too',
  async (kind) => {
    const right = `get ${kind.toLowerCase()}s`
    await expect(asked(kind, right)).rejects.toMatchObject({
      kind: 'preflight',
      reason: { code: 'rights-missing', rights: expect.arrayContaining([`${right}.apps`]) as string[] },
    })
  },
)

test('Leases and workloads may be given by their names, as the role says, where the run is given names too', async () => {
  const rules: { resources: string[] }[] = role.rules.filter(
    ({ resources }: { resources: string[] }) => !['leases', 'statefulsets'].includes(resources[0]!),
  )
  const restricted = ruledBy([
    ...rules,
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list', 'create'] },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      verbs: ['get', 'update', 'patch'],
      resourceNames: ['sluice-statefulset-web'],
    },
    { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'watch', 'patch'], resourceNames: ['web'] },
  ])
  const checked = (...names: string[]): Promise<Reason | undefined> =>
    checkRights(restricted, { namespace: 'shop', select: { refs: names.map((name) => ({ ...STATEFUL_SET, name })) } })
  await checked('web')
  await expect(checked('db', 'store')).rejects.toMatchObject({
    reason: {
      code: 'rights-missing',
      namespace: 'shop',
      rights: expect.arrayContaining([
        'get statefulsets.apps',
        'list statefulsets.apps',
        'watch statefulsets.apps',
        'patch statefulsets.apps',
        'get leases.coordination.k8s.io',
      ]) as string[],
    },
  })
  await expect(checkRights(restricted, { namespace: 'shop', select: { labelSelector: 'app=web' } })).rejects.toMatchObject({
    reason: { rights: expect.arrayContaining(['get leases.coordination.k8s.io']) as string[] },
  })
})

test('where the server does not let itself be asked, that is told with what it says', async () => {
  const said =
    'selfsubjectaccessreviews.authorization.k8s.io is forbidden: User "ci" cannot create resource "selfsubjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope'
  const client = {
    create: () => Promise.reject(new KubeError(said, { kind: 'definite', method: 'POST', path: '', status: 403 })),
  } as unknown as KubeClient
  expect(await checkRights(client, { namespace: 'shop', select: { refs: [idNamed('StatefulSet', 'web')] } })).toMatchObject({
    code: 'rights-not-asked',
    because: { code: 'api-error', status: 403, said },
  })
})

const LOCK = { namespace: 'locks', document: 'http://edge' }
const edge = (client: KubeClient) => [
  { name: 'edge', adapterName: 'http', adapter: {} as Adapter, port: 80, lock: { ...LOCK, client } },
]
const LEASES = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] }

test('the Lease of a load balancer’s document needs rights where it is', async () => {
  const create = { ...LEASES, verbs: ['create'] }
  const hold = { ...LEASES, verbs: ['get', 'update'], resourceNames: [documentLease(LOCK)] }
  await expect(checkLocks(edge(ruledBy([create, hold])))).resolves.toEqual([])
  await expect(checkLocks(edge(ruledBy([create])))).rejects.toMatchObject({
    kind: 'preflight',
    reason: {
      code: 'rights-missing',
      namespace: 'locks',
      rights: ['get leases.coordination.k8s.io', 'update leases.coordination.k8s.io'],
    },
  })
})

test('a cluster of a lock that does not answer is named before anything is touched', async () => {
  const create = () => Promise.reject(new KubeError('POST: refused', { kind: 'definite', method: 'POST', path: '/' }))
  await expect(checkLocks(edge({ create } as unknown as KubeClient))).rejects.toMatchObject({
    kind: 'preflight',
    reason: { code: 'document-not-locked', namespace: 'locks', lease: documentLease(LOCK) },
  })
})

test('where a cluster of a lock does not let itself be asked, that is a warning', async () => {
  const refuse = (path: string) =>
    Promise.reject(
      new KubeError(`POST ${path}: 403 Forbidden: User "sluice" cannot create resource "selfsubjectaccessreviews"`, {
        kind: 'definite',
        method: 'POST',
        path,
        status: 403,
      }),
    )
  await expect(checkLocks(edge({ create: refuse } as unknown as KubeClient))).resolves.toMatchObject([
    { code: 'rights-not-asked' },
  ])
})
