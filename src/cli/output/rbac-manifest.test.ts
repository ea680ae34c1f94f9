import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { rbacManifest, type RbacSubject } from './rbac-manifest.ts'

const account: RbacSubject = { kind: 'ServiceAccount', name: 'sluice', namespace: 'shop' }

interface Made {
  kind: string
  metadata: { name: string; namespace?: string }
  roleRef?: object
  rules?: { resources: string[]; verbs: string[] }[]
}

function made(subject: RbacSubject, doctor: boolean): Made[] {
  const text = rbacManifest({ workloads: [], namespace: 'shop', subject, orders: false, doctor, loadBalancers: [], locks: [] })
  return parseAllDocuments(text).map((document) => document.toJS() as Made)
}

test('the rights of the doctor are a ClusterRole that lists, and a Role of the namespace for its probe', () => {
  const own = made(account, true).slice(made(account, false).length)
  expect(own.map(({ kind, metadata: { namespace } }) => [kind, namespace])).toEqual([
    ['ClusterRole', undefined],
    ['ClusterRoleBinding', undefined],
    ['Role', 'shop'],
    ['RoleBinding', 'shop'],
  ])
  const [ofCluster, binding, ofProbe] = own
  expect(new Set(ofCluster!.rules!.flatMap(({ verbs }) => verbs))).toEqual(new Set(['list']))
  expect(ofCluster!.rules!.flatMap(({ resources }) => resources)).not.toContain('configmaps')
  expect(binding!.roleRef).toMatchObject({ kind: 'ClusterRole', name: ofCluster!.metadata.name })
  expect(ofProbe!.rules).toMatchObject([{ resources: ['services'], verbs: ['create', 'delete'] }])
})

test('the rights of observe are a ClusterRole that lists and watches, bound to the same subject', () => {
  const text = rbacManifest({
    workloads: [],
    namespace: 'shop',
    subject: account,
    orders: false,
    observe: true,
    loadBalancers: [],
    locks: [],
  })
  const own = parseAllDocuments(text)
    .map((document) => document.toJS() as Made)
    .slice(made(account, false).length)
  const [ofCluster, binding, ...more] = own
  expect([ofCluster!.kind, binding!.kind, more]).toEqual(['ClusterRole', 'ClusterRoleBinding', []])
  expect(new Set(ofCluster!.rules!.flatMap(({ verbs }) => verbs))).toEqual(new Set(['list', 'watch']))
  expect(binding!.roleRef).toMatchObject({ kind: 'ClusterRole', name: 'sluice-observe' })
})

test('two teams have one ClusterRole, each with a binding of its own', () => {
  const names = (subject: RbacSubject): string[] =>
    made(subject, true)
      .filter(({ kind }) => kind.startsWith('Cluster'))
      .map(({ metadata }) => metadata.name)
  const [one, other] = [names(account), names({ kind: 'User', name: 'ann' })]
  expect(one[0]).toBe(other[0])
  expect(one[1]).not.toBe(other[1])
})
