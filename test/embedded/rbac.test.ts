import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { expect, onTestFinished, test } from 'vitest'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { whyNoHaproxy } from '../../adapters/conformance/beds/haproxy-process.ts'
import type { Authorizer } from '../../sim/api-server/server.ts'
import { createKubeClient } from '../../src/kube/kube-client.ts'
import type { Transport } from '../../src/kube/transport.ts'
import { documentLease } from '../../src/engine/locks/document-lease.ts'
import { checkRights } from '../../src/engine/preflight.ts'
import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { startChild } from '../../src/cli/testing/child.ts'
import { type ScaleBed, startScaleBed } from './scale-bed.ts'

/* The Role that `sluice rbac` prints, and the real calls of plan and upgrade. */

const SLUICE = fileURLToPath(new URL('../../src/cli/sluice.ts', import.meta.url))
const WEB = 'statefulset/web'

interface Rule {
  apiGroups: string[]
  resources: string[]
  resourceNames?: string[]
  verbs: string[]
}

async function sluice(...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-rbac-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const child = startChild([SLUICE, ...args], { cwd: folder, env: { HOME: folder } })
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

async function printed(...args: string[]) {
  const { code, stdout, stderr } = await sluice('rbac', '-n', 'default', ...args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const objects = parseAllDocuments(stdout).map((document) => document.toJS())
  return { objects, rules: objects.find(({ kind }) => kind === 'Role').rules as Rule[], stdout }
}

/** Decides as RBAC does, with the rights of system:basic-user unless `mayAsk` is false. */
function byRules(rules: readonly Rule[], { mayAsk = true } = {}): Authorizer {
  return (_by, { verb, group, resource, subresource, name }) => {
    if (group === 'authorization.k8s.io') return mayAsk
    const path = subresource === '' ? resource : `${resource}/${subresource}`
    return rules.some(
      (rule) =>
        rule.verbs.includes(verb) &&
        rule.apiGroups.includes(group) &&
        rule.resources.includes(path) &&
        (rule.resourceNames === undefined || rule.resourceNames.includes(name)),
    )
  }
}

function transportTo({ apiServer }: ScaleBed['cluster']): Transport {
  return {
    send: async (request) => apiServer.handle(request, 'sluice'),
    stream: () => Promise.reject(new Error('nothing is watched here')),
    close: async () => {},
  }
}

/** Returns the rules without one verb, for each verb of each rule. */
function withoutOne(rules: readonly Rule[]): { lacks: string; rest: Rule[] }[] {
  return rules.flatMap((rule, index) =>
    rule.verbs.map((verb) => {
      const less = { ...rule, verbs: rule.verbs.filter((one) => one !== verb) }
      const group = rule.apiGroups[0] === '' ? '' : `.${rule.apiGroups[0]}`
      const [resource, subresource] = rule.resources[0]!.split('/')
      const lacks = `${verb} ${resource}${group}${subresource === undefined ? '' : `/${subresource}`}`
      return { lacks, rest: rules.with(index, less) }
    }),
  )
}

const openBed = async (): Promise<ScaleBed> => {
  const bed = await startScaleBed({ pods: 2, readyAfterMs: 100 })
  onTestFinished(() => bed.stop())
  return bed
}
const where = ({ configFile, kubeconfig }: ScaleBed): string[] => ['--config', configFile, '--kubeconfig', kubeconfig]

test.skipIf(whyNoHaproxy() !== undefined)(
  'with exactly these rights plan and upgrade succeed; without any one of them the plan names it',
  async () => {
    const bed = await openBed()
    const { authorize } = bed.cluster.apiServer
    const { rules } = await printed(WEB, '--config', bed.configFile)
    expect(rules.filter(({ resourceNames }) => resourceNames !== undefined)).toHaveLength(2)
    // A run does not need events.
    const lacking = withoutOne(rules).filter(({ lacks }) => lacks !== 'list events')
    expect(lacking.length).toBeGreaterThan(15)
    const client = createKubeClient({ transport: transportTo(bed.cluster), clock: systemClock, random: systemRandom })
    const select = { refs: [{ ...STATEFUL_SET, name: 'web' } as const] }
    for (const { lacks, rest } of lacking) {
      authorize(byRules(rest))
      await expect(checkRights(client, { namespace: 'default', select }), lacks).rejects.toMatchObject({
        reason: { code: 'rights-missing', namespace: 'default', rights: lacks.split(', ') },
      })
    }
    authorize(byRules(lacking[0]!.rest))
    const refused = await sluice('plan', WEB, 'app=app:v2', ...where(bed))
    expect(refused.code).toBe(3)
    expect(refused.stderr).toContain(`not allowed in namespace default: ${lacking[0]!.lacks};`)
    authorize(byRules(rules))
    const plan = await sluice('plan', WEB, 'app=app:v2', ...where(bed))
    expect({ code: plan.code, stderr: plan.stderr }).toEqual({ code: 1, stderr: '' })
    const upgrade = await sluice('upgrade', WEB, 'app=app:v2', ...where(bed))
    expect({ code: upgrade.code, warned: upgrade.stdout.includes('warning') }).toEqual({ code: 0, warned: false })
    // The orders need more rights.
    expect((await sluice('status', ...where(bed).slice(2))).code).toBe(3)
    authorize(byRules((await printed(WEB, '--orders')).rules))
    expect((await sluice('status', ...where(bed).slice(2))).code).toBe(0)
  },
  180_000,
)

test.skipIf(whyNoHaproxy() !== undefined)(
  'where nobody may ask for rights the run goes on, and says so with the words of the API server',
  async () => {
    const bed = await openBed()
    const { rules } = await printed(WEB)
    bed.cluster.apiServer.authorize(byRules(rules, { mayAsk: false }))
    const { code, stdout } = await sluice('upgrade', WEB, 'app=app:v2', ...where(bed))
    expect(stdout).toContain('cannot create resource "selfsubjectaccessreviews" in API group "authorization.k8s.io"')
    expect(code).toBe(0)
  },
  60_000,
)

test.skipIf(whyNoHaproxy() !== undefined)(
  'a quota that is full is no missing right: what the API server says, and nothing of rights',
  async () => {
    const bed = await openBed()
    const quota = 'exceeded quota: small, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1'
    bed.cluster.apiServer.admit(({ operation, object }) =>
      operation === 'CREATE' && object.kind === 'ConfigMap'
        ? { refuse: `configmaps "${object.metadata.name}" is forbidden: ${quota}` }
        : undefined,
    )
    const { code, stdout, stderr } = await sluice('upgrade', WEB, 'app=app:v2', ...where(bed))
    expect(stdout + stderr).toContain(quota)
    expect(stdout + stderr).not.toMatch(/rbac|rights|not allowed/)
    expect(code).toBe(3)
  },
  60_000,
)

test('for a user, for an account of another namespace, and for several kinds', async () => {
  const user = await printed('--user', 'ci@example.org')
  expect(user.objects.map(({ kind, metadata }) => [kind, metadata.name, metadata.namespace])).toEqual([
    ['Role', 'sluice', 'default'],
    ['RoleBinding', 'sluice', 'default'],
  ])
  expect(user.objects[1].subjects).toEqual([{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ci@example.org' }])

  const far = await printed('sts', 'ds/agent', '--service-account', 'ci:007')
  expect(far.objects.map(({ kind }) => kind)).toEqual(['Role', 'RoleBinding'])
  expect(far.objects[1].subjects).toEqual([{ kind: 'ServiceAccount', name: '007', namespace: 'ci' }])
  expect(far.rules.find(({ resources }) => resources.includes('daemonsets'))).toMatchObject({ resourceNames: ['agent'] })
  expect(far.rules.find(({ resources }) => resources.includes('statefulsets'))).not.toHaveProperty('resourceNames')
  expect(far.rules.find(({ verbs }) => verbs.includes('update'))).not.toHaveProperty('resourceNames')

  const own = await printed(WEB)
  expect(own.objects.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
    ['ServiceAccount', 'sluice'],
    ['Role', 'sluice-statefulset-web'],
    ['RoleBinding', 'sluice-statefulset-web'],
  ])
})

test('the Leases of documents, in the namespace of each lock, and in another cluster as a comment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-locks-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'sluice.yaml')
  const balancer = (name: string, lock: object) => ({
    name,
    adapter: 'exec',
    port: 80,
    lock: { namespace: 'locks', key: name, ...lock },
    options: { command: ['./lb'], capabilities: { settle: '0s', wholeDocument: true } },
  })
  const loadBalancers = [balancer('edge', {}), balancer('inner', {}), balancer('far', { context: 'hub' })]
  writeFileSync(config, JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
  const { objects, stdout } = await printed(WEB, '--config', config)
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`).slice(-2)).toEqual([
    expect.stringMatching(/^Role locks\/sluice-locks-[0-9a-f]{8}$/),
    expect.stringMatching(/^RoleBinding locks\/sluice-locks-[0-9a-f]{8}$/),
  ])
  const names = ['edge', 'inner'].map((document) => documentLease({ document }))
  expect(objects.at(-2).rules).toEqual([
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: names, verbs: ['get', 'update'] },
  ])
  expect(objects.at(-1).subjects).toEqual([{ kind: 'ServiceAccount', name: 'sluice', namespace: 'default' }])
  expect(stdout.replaceAll('\n# ', ' ')).toContain(
    `The lock of far is in another cluster (hub): there it needs create of leases.coordination.k8s.io in namespace locks, and get and update of ${documentLease({ document: 'far' })}.`,
  )
})

test.each<[string[], string]>([
  [['rbac'], "required option '-n, --namespace <name>' not specified"],
  [['rbac', '-n', 'shop', 'cloneset/web'], 'sluice cannot upgrade a cloneset'],
  [['rbac', '-n', 'shop', '--service-account', 'a:b:c'], '"a:b:c" is no ServiceAccount: write NAME or NAMESPACE:NAME'],
  [['rbac', '-n', 'shop', '--service-account', 'a', '--user', 'b'], 'cannot be used with option'],
  [['rbac', '-n', 'shop', '--config', 'none.yaml'], 'none.yaml: there is no such file'],
])('wrong arguments: %j', async (args, message) => {
  const { code, stderr } = await sluice(...args)
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})
