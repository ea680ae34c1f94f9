import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { Purpose } from '../arguments/purposes.ts'
import { deployedRights, rbacManifest } from './rbac-manifest.ts'

interface Made {
  kind: string
  metadata: { name: string; namespace?: string }
  roleRef?: { kind: string; name: string }
  subjects?: { name: string; namespace: string }[]
  rules?: { apiGroups: string[]; resources: string[]; resourceNames?: string[]; verbs: string[] }[]
}

const files = deployedRights()
const documents = (text: string): Made[] => parseAllDocuments(text).map((document) => document.toJS() as Made)

/** Each right, such as `shop: update secrets. sluice-webhook-certificate`, in the namespace of its binding. */
function granted(objects: readonly Made[], namespace: string): string[] {
  const where = ({ kind, metadata }: Made): string => (kind.startsWith('Cluster') ? '*' : (metadata.namespace ?? namespace))
  return objects
    .filter(({ kind }) => kind.endsWith('Binding'))
    .flatMap((binding) => {
      const role = objects.find(
        (one) =>
          one.kind === binding.roleRef!.kind && one.metadata.name === binding.roleRef!.name && where(one) === where(binding),
      )!
      return role.rules!.flatMap(({ apiGroups: [group], resources: [resource], resourceNames = [''], verbs }) =>
        verbs.flatMap((verb) => resourceNames.map((name) => `${where(binding)}: ${verb} ${resource}.${group} ${name}`)),
      )
    })
    .sort()
}

test.each(Object.entries(files))('deploy/%s is what the table of rights says: node scripts/write-rbac.ts', (path, text) => {
  expect(readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8')).toBe(text)
})

test.each<[Purpose, string, string[]]>([
  ['webhook', 'sluice-webhook', ['webhook/base', 'webhook/own-certificate', 'webhook/namespace']],
  ['sync', 'sluice-sync', ['sync/base', 'sync/namespace']],
  ['sync-source', 'sluice-sync', ['sync/source', 'sync/source-namespace']],
])('deploy/ grants for %s what sluice rbac prints, to the same account', (purpose, account, folders) => {
  const subject = { kind: 'ServiceAccount', name: account, namespace: account } as const
  const options = { workloads: [], namespace: 'shop', subject, orders: false, loadBalancers: [], locks: [] }
  const printed = documents(rbacManifest({ ...options, purposes: [purpose] }))
  const deployed = folders.flatMap((folder) => documents(files[`${folder}/rbac.yaml`]!))
  const rights = granted(printed, 'shop')
  expect(granted(deployed, 'shop')).toEqual(rights)
  expect(new Set(rights).size).toBe(rights.length)
  const subjects = [...printed, ...deployed].flatMap((one) => one.subjects ?? [])
  expect(new Set(subjects.map(({ namespace, name }) => `${namespace}:${name}`))).toEqual(new Set([`${account}:${account}`]))
})

test('the webhook writes no pod, no Secret of others and no rules; of the whole cluster it has nodes and its own configuration', () => {
  const all = ['webhook/base', 'webhook/own-certificate', 'webhook/namespace'].flatMap((folder) =>
    granted(documents(files[`${folder}/rbac.yaml`]!), 'shop'),
  )
  expect(all.filter((right) => right.startsWith('*'))).toEqual([
    '*: list nodes. ',
    '*: watch nodes. ',
    '*: get mutatingwebhookconfigurations.admissionregistration.k8s.io sluice-webhook',
    '*: patch mutatingwebhookconfigurations.admissionregistration.k8s.io sluice-webhook',
  ])
  const writes = all.filter((right) => !/: (get|list|watch) /.test(right)).map((right) => right.replace(/^\S+ /, ''))
  expect(writes.filter((right) => /pods|configmaps|nodes/.test(right))).toEqual([])
  expect(writes.filter((right) => right.includes('secrets') && !right.startsWith('create'))).toEqual([
    'update secrets. sluice-webhook-certificate',
  ])
})

test('sync changes nothing in a source', () => {
  const all = ['sync/source', 'sync/source-namespace'].flatMap((folder) =>
    granted(documents(files[`${folder}/rbac.yaml`]!), 'shop'),
  )
  expect(all.filter((right) => !/: (get|list|watch) /.test(right))).toEqual([])
  expect(all.length).toBeGreaterThan(5)
})
