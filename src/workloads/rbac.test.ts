import { KINDS } from './kinds/index.ts'
import { DAEMON_SET } from './kinds/daemon-set.ts'
import { POD } from './kinds/pod.ts'
import { STATEFUL_SET } from './kinds/stateful-set.ts'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { rbacFile } from '../cli/output/rbac-manifest.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import { withObservation } from '../observation/testing/with-observation.ts'
import { openNamed } from './open.ts'
import { createFakeApi } from './testing/fake-api.ts'
import {
  APPS,
  NAMESPACE,
  deployment,
  ownerOf,
  rawPod,
  replicaSet,
  startRevisionController,
  workload,
} from './testing/manifests.ts'
import { createTestClock, turn } from './testing/test-clock.ts'

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

const file = readFileSync(new URL('../../deploy/rbac.yaml', import.meta.url), 'utf8')
const [account, role] = parseAllDocuments(file).map((document) => document.toJS())
const rules: Rule[] = role.rules

function granted(): string[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
  )
}

it('is a ServiceAccount and a Role, in whichever namespace kubectl is told', () => {
  expect([account.kind, role.kind]).toEqual(['ServiceAccount', 'Role'])
  expect([account.metadata, role.metadata]).toEqual([{ name: 'sluice' }, { name: 'sluice' }])
  expect(file).toContain('create rolebinding sluice -n NAMESPACE --role=sluice --serviceaccount=NAMESPACE:sluice')
})

it('is what the table of rights says: node scripts/write-rbac.ts', () => {
  expect(file).toBe(rbacFile())
})

it('has no wildcard, grants nothing twice, and explains every rule', () => {
  expect(granted().filter((one) => one.includes('*'))).toEqual([])
  expect(new Set(granted()).size).toBe(granted().length)
  const lines = file.split('\n')
  const starts = lines.flatMap((line, index) => (line.startsWith('  - apiGroups:') ? [index] : []))
  expect(starts).toHaveLength(rules.length)
  expect(starts.filter((index) => !lines[index - 1]!.startsWith('  # '))).toEqual([])
})

it('grants nothing that could delete a pod or start a rollout', () => {
  const harmful =
    /^(delete|deletecollection|create|update) (pods|statefulsets|daemonsets)\.|^(?!list |watch ).* (deployments|replicasets)\./
  expect(granted().filter((one) => harmful.test(one))).toEqual([])
})

it('grants every call that workloads make', async () => {
  const api = createFakeApi()
  startRevisionController(api)
  const pods = `/api/v1/namespaces/${NAMESPACE}/pods`
  api.put(`${APPS}/statefulsets/web`, workload())
  api.put(`${APPS}/daemonsets/agent`, workload({ name: 'agent' }))
  api.put(`${APPS}/deployments/web`, deployment())
  api.put(`${APPS}/replicasets/web-1`, replicaSet('web-1', ownerOf('apps/v1', 'Deployment', 'web')))
  api.put(`${pods}/shop`, rawPod({ name: 'shop', owner: ownerOf('apps/v1', 'ReplicaSet', 'web-1') }))
  await turn()
  const refs: WorkloadRef[] = [
    { ...STATEFUL_SET, name: 'web', namespace: NAMESPACE },
    { ...DAEMON_SET, name: 'agent', namespace: NAMESPACE },
    { ...POD, name: 'shop', namespace: NAMESPACE },
  ]
  const { workloads } = await openNamed(
    refs,
    withObservation({ client: api.client, kinds: KINDS, clock: createTestClock(), random: { next: () => 0 }, onError: () => {} }),
  )
  const signal = new AbortController().signal
  for (const one of workloads)
    await one.prepare([{ container: 'app', image: 'registry/app:v2' }], { signal, isOwned: async () => true })
  for (const one of workloads) await one.stop()
  const needed = new Set(api.calls.map(({ method, path }) => right(method, path)))
  expect([...needed].filter((one) => !granted().includes(one))).toEqual([])
  expect(needed.size).toBeGreaterThan(10)
})

/** The right for a call: `GET /apis/apps/v1/namespaces/x/statefulsets/web` needs `get statefulsets.apps`. */
function right(method: string, path: string): string {
  const [, group = '', plural] = /^\/(?:api|apis\/([^/]+))\/[^/]+\/namespaces\/[^/]+\/([^/]+)/.exec(path)!
  return `${method.toLowerCase()} ${plural}.${group}`
}
