import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { serversApi } from '../../adapters/http/testing/servers-api.ts'
import { createLoadBalancer, type LoadBalancer } from '../../demo/load-balancer/load-balancer.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { startChild } from './testing/child.ts'

/* Tests of the output of `sluice explain`, for pods in rotation and for pods out of it. */

// The tests start whole processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

const ENTRY = join(import.meta.dirname, 'sluice.ts')
const IMAGES = { 'app:v1': { digest: 'sha256:v1' }, 'app:v2': { digest: 'sha256:v2', readyAfterMs: 3_600_000 } }
const labels = { app: 'web' }
const service = (name: string, selector: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { clusterIP: '10.96.0.7', selector, ports: [{ name: 'http', port: 80, targetPort: 80, protocol: 'TCP' }] },
})
const STATEFUL_SET = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web' },
  spec: {
    replicas: 3,
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

let folder: string
let cluster: EmbeddedCluster
let edge: LoadBalancer
const pods = (): Pod[] => cluster.apiServer.store.list('pods', 'default') as Pod[]
const podNamed = (name: string): Pod => pods().find(({ metadata }) => metadata.name === name)!

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-explain-'))
  cluster = await startEmbeddedCluster({ nodes: 1, images: IMAGES })
  await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
  cluster.apply(service('web', labels), service('lost', { ...labels, tier: 'front' }), STATEFUL_SET)
  await vi.waitUntil(() => pods().length === 3 && pods().every(isReady), { timeout: 20_000 })
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

function start(...args: string[]) {
  return startChild([ENTRY, ...args], { cwd: folder, env: { HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') } })
}

async function sluice(...args: string[]) {
  const child = start(...args)
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

async function explained(object: string) {
  const { code, stdout } = await sluice('explain', object, '-o', 'json')
  return { code, document: JSON.parse(stdout) as Document }
}

interface Document {
  findings: { severity: string; pod?: string; reason: { code: string }; next: { shell: string }[] }[]
  [field: string]: unknown
}

function wrong({ findings }: Document): string[] {
  return findings.filter(({ severity }) => severity === 'wrong').map(({ pod = '', reason }) => `${pod} ${reason.code}`.trim())
}

async function setState(name: string, state: string): Promise<void> {
  await fetch(`${edge.adminUrl}/servers/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ state }),
  })
}

test('a pod that is ready is in rotation in its slice and its load balancer: exit 0, and nothing is written', async () => {
  const before = { version: podNamed('web-0').metadata.resourceVersion, calls: edge.calls.length }
  const { code, stdout } = await sluice('explain', 'pod/web-0')
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^pod\/web-0 in namespace default: in rotation$/m)])
  expect(stdout).toMatch(/^ {2}service\/web, slice web-\S+ +yes +ready +\d{4}-\S+Z/m)
  expect(stdout).toMatch(/^ {2}edge, web-0@\S+:80 +yes +in, 0 in flight/m)
  expect(stdout).not.toMatch(/[×‼?] /)
  expect(podNamed('web-0').metadata.resourceVersion).toBe(before.version)
  expect(edge.calls.slice(before.calls).filter(({ method }) => method !== 'GET')).toEqual([])
})

test('a workload and a Service are told by their pods', async () => {
  for (const object of ['sts/web', 'svc/web']) {
    const { code, document } = await explained(object)
    expect([code, document]).toMatchObject([
      0,
      { kind: 'Explanation', verdict: 'right', pods: [{ name: 'web-0', rotation: 'in' }, { name: 'web-1' }, { name: 'web-2' }] },
    ])
  }
})

test('a Service whose selector matches nothing: exit 1, with the pods that it misses and by which label', async () => {
  const { code, stdout } = await sluice('explain', 'service/lost')
  expect(code).toBe(1)
  expect(stdout).toContain('× service/lost: no pod has the labels of the selector, app=web,tier=front [selects-nothing]')
  expect(stdout).toContain('pods web-0, web-1, web-2 by a label: the pod has no label tier, of which the selector wants front')
  expect(stdout).toMatch(/^ {4}kubectl --kubeconfig \S+ -n default get pods --show-labels$/m)
})

test('a pod that an operator has out at the load balancer: no run of sluice has it out', async () => {
  await setState('web-1', 'maint')
  const { code, document } = await explained('pod/web-1')
  await setState('web-1', 'ready')
  expect(code).toBe(1)
  expect(wrong(document)).toEqual(['web-1 entry-out-by-others'])
  expect(document).toMatchObject({ pods: [{ rotation: 'partly', places: [{ ready: true }, { admin: 'out', outBy: 'others' }] }] })
})

test('a pod that is not ready, whose load balancer has no health check and sends it requests all the same', async () => {
  cluster.unready('default', 'web-2', 'app', 600_000)
  await vi.waitUntil(() => !isReady(podNamed('web-2')), { timeout: 20_000 })
  const { code, document } = await explained('sts/web')
  cluster.unready('default', 'web-2', 'app', 0)
  expect([code, wrong(document)]).toEqual([1, ['web-2 containers-not-ready', 'web-2 entry-in-and-pod-not-ready']])
  await vi.waitUntil(() => isReady(podNamed('web-2')), { timeout: 20_000 })
})

test('condition Ready that a person has set is told with its writer', async () => {
  const ofReady = { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { 'f:status': {} } } } }
  const managedFields = [
    { manager: 'kubelet', operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': { 'f:podIP': {} } } },
    { manager: 'kubectl-edit', operation: 'Update', subresource: 'status', time: '2026-11-29T10:00:00Z', fieldsV1: ofReady },
  ]
  cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0', namespace: 'default', managedFields } })
  const { code, stdout } = await sluice('explain', 'pod/web-0')
  cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0', namespace: 'default', managedFields: null } })
  expect(code).toBe(1)
  expect(stdout).toContain('condition Ready of web-0 was set to True by a person (kubectl-edit) at 2026-11-29T10:00:00Z')
})

test('what is not there, and what is no object to explain: 3 and 2', async () => {
  expect(await sluice('explain', 'pod/none')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('there is no pod/none in namespace default'),
  })
  expect(await sluice('explain', 'web')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('explain takes TYPE/NAME, where TYPE is one of pod, '),
  })
  expect(await sluice('explain', 'pod/web-0', '--config', 'none.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('none.yaml: there is no such file'),
  })
})

test('a load balancer that does not answer leaves the verdict open: exit 3, and the rest is told', async () => {
  const loadBalancers = [{ name: 'edge', adapter: 'http', port: 80, options: serversApi('http://127.0.0.1:9') }]
  writeFileSync(join(folder, 'dead.yaml'), JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
  const { code, stdout } = await sluice('explain', 'pod/web-0', '--config', 'dead.yaml')
  expect([code, stdout]).toEqual([3, expect.stringContaining('? the load balancer edge could not be read: ')])
  expect(stdout).toMatch(/^ {2}service\/web, slice web-\S+ +yes/m)
})

// This test comes last, because it leaves the StatefulSet in the middle of its run.
test('a pod in the middle of a run is told with the run that has it', async () => {
  const run = start('upgrade', 'sts/web', 'app=app:v2', '-o', 'jsonl')
  await vi.waitUntil(() => podNamed('web-2').spec.containers[0]!.image === 'app:v2' && !isReady(podNamed('web-2')), {
    timeout: 60_000,
  })
  const { code, document } = await explained('pod/web-2')
  run.process.kill('SIGKILL')
  await run.end()
  expect(code).toBe(1)
  expect(wrong(document)).toEqual(['web-2 pod-in-run', 'web-2 containers-not-ready', 'web-2 entry-out-by-run'])
  expect(document).toMatchObject({
    pods: [
      {
        rotation: 'out',
        run: { run: expect.any(String), step: 'patched', out: true, workload: 'statefulset/web', holder: expect.any(String) },
        places: [{ ready: false }, { admin: 'draining', outBy: 'run' }],
      },
    ],
  })
  expect(document.findings.flatMap(({ next }) => next.map(({ shell }) => shell))).toContain(
    `sluice status statefulset/web -n default --kubeconfig ${join(folder, 'kubeconfig')}`,
  )
})
