import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { serversApi } from '../../adapters/http/testing/servers-api.ts'
import { createLoadBalancer, type LoadBalancer } from '../../demo/load-balancer/load-balancer.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { startChild } from './testing/child.ts'

/* The doctor on an embedded cluster has no findings where all is well, and finds two faults by their codes. */

// The tests start whole processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

const ENTRY = join(import.meta.dirname, 'sluice.ts')
const labels = { app: 'web' }
const STATEFUL_SET = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    serviceName: 'web',
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'app', image: 'app:v1', ports: [{ containerPort: 80 }], readinessProbe: { periodSeconds: 1 } }],
      },
    },
  },
}
const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { clusterIP: 'None', selector: labels, ports: [{ port: 80 }] },
}
const SELECTORLESS = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'far' },
  spec: { clusterIP: '10.96.0.9', ports: [{ port: 80 }] },
}

let folder: string
let cluster: EmbeddedCluster
let edge: LoadBalancer
const pods = (): Pod[] => cluster.apiServer.store.list('pods', 'default') as Pod[]
const services = (): string[] => cluster.apiServer.store.list('services', 'default').map(({ metadata }) => metadata.name)

function renew(namespace: string, name: string, agoMs = 0): void {
  cluster.apply({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name },
    spec: { holderIdentity: name, leaseDurationSeconds: 15, renewTime: new Date(Date.now() - agoMs).toISOString() },
  })
}

function renewAll(): void {
  for (const node of cluster.nodes) renew('kube-node-lease', node)
  for (const part of ['kube-scheduler', 'kube-controller-manager']) renew('kube-system', part)
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-doctor-'))
  cluster = await startEmbeddedCluster({ nodes: 2, images: { 'app:v1': { digest: 'sha256:v1' } } })
  await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
  cluster.apply(STATEFUL_SET, SERVICE)
  await vi.waitUntil(() => pods().length === 2 && pods().every(isReady), { timeout: 20_000 })
  const servers = pods().map(({ metadata: { name }, status }) => ({ name, address: `${status!.podIP!}:80` }))
  edge = await createLoadBalancer({ servers })
  const loadBalancers = [{ name: 'edge', adapter: 'http', port: 80, options: serversApi(edge.adminUrl) }]
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
})
afterAll(async () => {
  await cluster?.close()
  await edge?.close()
  rmSync(folder, { recursive: true })
})

interface Told {
  outcome: string
  checks: { check: string; outcome: string; findings: { code: string }[]; skipped: { code: string; resource?: string }[] }[]
}

async function doctor(...args: string[]) {
  const env = { HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') }
  const child = startChild([ENTRY, 'doctor', ...args], { cwd: folder, env })
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

test('a healthy cluster is told by the list alone, with a probe that leaves nothing, and no write to the load balancer', async () => {
  renewAll()
  const { code, stdout, stderr } = await doctor('statefulset/web', '--probe', '--strict', '-o', 'json')
  const { outcome, checks } = JSON.parse(stdout) as Told
  expect(checks.flatMap(({ findings }) => findings)).toEqual([])
  expect([code, outcome, stderr]).toEqual([0, 'passed', ''])
  // The embedded API server does not have these kinds.
  const skipped = checks.flatMap((check) => check.skipped.map((one) => [check.check, one.code, one.resource]))
  expect(skipped).toEqual([
    ['webhooks', 'not-served', 'validatingwebhookconfigurations.admissionregistration.k8s.io'],
    ['webhooks', 'not-served', 'mutatingwebhookconfigurations.admissionregistration.k8s.io'],
    ['foreign-endpoints', 'not-served', 'endpoints'],
    ['endpoints-labels', 'not-served', 'endpoints'],
    ['disruption-budgets', 'not-served', 'poddisruptionbudgets.policy'],
  ])
  expect(services()).toEqual(['web'])
  expect(edge.calls.filter(({ method }) => method !== 'GET')).toEqual([])
})

test('two faults are found by their codes, with what to do and the page; a failed check is exit 3', async () => {
  renewAll()
  renew('kube-system', 'kube-scheduler', 120_000)
  cluster.apply(SELECTORLESS)
  const { code, stdout } = await doctor('-o', 'json')
  const { outcome, checks } = JSON.parse(stdout) as Told
  expect(checks.flatMap(({ findings }) => findings)).toMatchObject([
    {
      code: 'control-plane-part-silent',
      part: 'kube-scheduler',
      severity: 'failed',
      page: 'docs/doctor.md#control-plane-part-silent',
    },
    {
      code: 'selectorless-without-endpoints',
      service: 'far',
      hint: expect.stringContaining('see whether the program that writes its endpoints'),
    },
  ])
  expect([code, outcome]).toEqual([3, 'failed'])
})

test('a warning is exit 0, and 1 with --strict; the text has the marks', async () => {
  renewAll()
  const plain = await doctor('--color', 'never')
  expect(plain).toMatchObject({ code: 0, stdout: expect.stringContaining('‼ Services without a selector have endpoints\n') })
  expect(plain.stdout).toContain('see docs/doctor.md#selectorless-without-endpoints\n')
  expect(plain.stdout).toMatch(/\n‼ \d+ passed, 1 with warnings, \d+ skipped\n$/)
  expect((await doctor('--strict')).code).toBe(1)
  expect((await doctor('--strict', '--ignore', 'selectorless-without-endpoints')).code).toBe(0)
})

test('a load balancer that is gone, and a server of no pod', async () => {
  renewAll()
  const server = { name: 'old', address: '10.255.255.1:80' }
  const another = await createLoadBalancer({ servers: [...edge.servers(), server] })
  const gone = await createLoadBalancer({ servers: [] })
  await gone.close()
  const loadBalancers = [another, gone].map(({ adminUrl }, index) => ({
    name: `edge-${index}`,
    adapter: 'http',
    port: 80,
    options: serversApi(adminUrl),
  }))
  const file = join(folder, 'other.yaml')
  writeFileSync(file, JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
  const { code, stdout } = await doctor('--config', file, '-o', 'json')
  await another.close()
  const { checks } = JSON.parse(stdout) as Told
  expect(
    checks.filter(({ check }) => check.startsWith('load-') || check === 'servers').flatMap(({ findings }) => findings),
  ).toMatchObject([
    { code: 'load-balancer-unreachable', loadBalancer: 'edge-1' },
    { code: 'server-without-pod', loadBalancer: 'edge-0', address: '10.255.255.1:80', inRotation: true },
  ])
  expect(code).toBe(3)
})

test('an API server that does not answer is one failed check, and the others are skipped', async () => {
  const { code, stdout } = await doctor('--kubeconfig', join(folder, 'nobody'), '-o', 'json')
  expect([code, stdout]).toEqual([3, ''])
  writeFileSync(
    join(folder, 'dead'),
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:9' } }],
      users: [{ name: 'u', user: {} }],
    }),
  )
  const dead = await doctor('--kubeconfig', join(folder, 'dead'), '-o', 'json')
  const { checks } = JSON.parse(dead.stdout) as Told
  expect(checks.flatMap(({ findings }) => findings.map(({ code: one }) => one))).toEqual(['api-unreachable'])
  expect(checks.slice(1).every(({ outcome }) => outcome === 'skipped')).toBe(true)
  expect(dead.code).toBe(3)
})

test.each([
  [['-A', '-n', 'shop'], '--all-namespaces excludes --namespace'],
  [['no-such'], 'no-such'],
  [['--ignore', 'heartbeat-lat'], 'did you mean heartbeat-late?'],
  [['--config', 'none.yaml'], 'none.yaml'],
])('%j is a mistake of the command line', async (args, said) => {
  const { code, stderr } = await doctor(...args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(said)])
})

test('SIGINT in the middle of a probe removes the Service first', async () => {
  const lagging = await startEmbeddedCluster({ nodes: 1, images: {}, behaviour: { endpointLag: [600_000, 600_001] } })
  onTestFinished(() => lagging.close())
  const kubeconfig = join(folder, 'lagging')
  await writeKubeconfig(kubeconfig, lagging.url)
  const child = startChild([ENTRY, 'doctor', '--probe', '--kubeconfig', kubeconfig], { cwd: folder, env: { HOME: folder } })
  onTestFinished(() => void child.process.kill('SIGKILL'))
  const probes = (): unknown[] => lagging.apiServer.store.list('services', 'default')
  await vi.waitUntil(() => probes().length === 1, { timeout: 60_000 })
  child.process.kill('SIGINT')
  expect([await child.end(), probes()]).toEqual([130, []])
})
