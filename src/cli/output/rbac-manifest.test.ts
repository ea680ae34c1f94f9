import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { Purpose } from '../arguments/purposes.ts'
import { rbacManifest, type RbacSubject } from './rbac-manifest.ts'

const account: RbacSubject = { kind: 'ServiceAccount', name: 'sluice', namespace: 'shop' }
const ann: RbacSubject = { kind: 'User', name: 'ann' }

interface Made {
  kind: string
  metadata: { name: string; namespace?: string }
  roleRef?: object
  rules?: { resources: string[]; verbs: string[] }[]
}

function made(subject: RbacSubject, ...purposes: Purpose[]): Made[] {
  const text = rbacManifest({ workloads: [], namespace: 'shop', subject, purposes, orders: false, loadBalancers: [], locks: [] })
  return parseAllDocuments(text).map((document) => document.toJS() as Made)
}

const places = (some: readonly Made[]): string[] => some.map(({ kind, metadata: { namespace } }) => `${kind} ${namespace ?? ''}`)
const verbsOf = (some: readonly Made[]): string[] =>
  [...new Set(some.flatMap(({ rules = [] }) => rules.flatMap(({ verbs }) => verbs)))].sort()

test('what the doctor reads is a ClusterRole that lists; a Role of the namespace is for its records and its probe', () => {
  const own = made(ann, 'doctor')
  expect(places(own)).toEqual(['ClusterRole ', 'ClusterRoleBinding ', 'Role shop', 'RoleBinding shop'])
  const [ofCluster, binding, ofNamespace] = own
  expect(verbsOf([ofCluster!])).toEqual(['list'])
  expect(ofCluster!.rules!.flatMap(({ resources }) => resources)).not.toContain('configmaps')
  expect(binding!.roleRef).toMatchObject({ kind: 'ClusterRole', name: ofCluster!.metadata.name })
  expect(ofNamespace!.rules!.filter(({ verbs }) => !verbs.includes('list'))).toEqual([
    { apiGroups: [''], resources: ['services'], verbs: ['create', 'delete'] },
  ])
})

test('what observe watches is a ClusterRole, bound to the same subject', () => {
  const own = made(ann, 'observe')
  expect(places(own)).toEqual(['ClusterRole ', 'ClusterRoleBinding '])
  expect(verbsOf(own)).toEqual(['list', 'watch'])
  expect(own[1]!.roleRef).toMatchObject({ kind: 'ClusterRole', name: 'sluice-observe' })
})

test('what explain reads is of the namespace, of the nodes, and of their Leases alone', () => {
  const own = made(ann, 'explain')
  expect(places(own)).toEqual([
    'Role shop',
    'RoleBinding shop',
    'ClusterRole ',
    'ClusterRoleBinding ',
    'Role kube-node-lease',
    'RoleBinding kube-node-lease',
  ])
  expect(verbsOf(own)).toEqual(['get', 'list'])
  expect(own[2]!.rules!.flatMap(({ resources }) => resources)).toEqual(['nodes'])
})

test('several at once, with one ServiceAccount; a run is what they are for unless told otherwise', () => {
  const all = made(account, 'upgrade', 'explain', 'observe', 'doctor')
  expect(all.filter(({ kind }) => kind === 'ServiceAccount')).toHaveLength(1)
  const alone = (['explain', 'observe', 'doctor'] as const).flatMap((one) => made(account, one).slice(1))
  const text = rbacManifest({ workloads: [], namespace: 'shop', subject: account, orders: false, loadBalancers: [], locks: [] })
  const run = parseAllDocuments(text).map((document) => document.toJS() as Made)
  expect(all).toEqual([...run, ...alone])
})

test('two teams have one Role where others have theirs, each with a binding of its own', () => {
  const shared = (subject: RbacSubject): string[] =>
    made(subject, 'explain', 'observe', 'doctor')
      .filter(({ kind, metadata: { namespace } }) => kind.startsWith('Cluster') || namespace === 'kube-node-lease')
      .map(({ kind, metadata: { name } }) => `${kind} ${name}`)
  const [one, other] = [shared(account), shared(ann)]
  const isBinding = (text: string): boolean => text.includes('Binding')
  expect(one).toHaveLength(8)
  expect(one.filter((text) => !isBinding(text))).toEqual(other.filter((text) => !isBinding(text)))
  expect(one.filter((text) => isBinding(text) && other.includes(text))).toEqual([])
})
