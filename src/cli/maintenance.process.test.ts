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

/* The plan and the run treat servers in maintenance alike. */

// The tests start whole processes on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

const ENTRY = join(import.meta.dirname, 'sluice.ts')
const IMAGES = Object.fromEntries(['v1', 'v2', 'v3'].map((tag) => [`app:${tag}`, { digest: `sha256:${tag}` }]))
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

let folder: string
let cluster: EmbeddedCluster
let edge: LoadBalancer
const pods = (): Pod[] => cluster.apiServer.store.list('pods', 'default') as Pod[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-maintenance-'))
  cluster = await startEmbeddedCluster({ nodes: 1, images: IMAGES })
  await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
  cluster.apply(STATEFUL_SET)
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

async function sluice(...args: string[]) {
  const env = { HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') }
  const child = startChild([ENTRY, ...args], { cwd: folder, env })
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

async function setState(name: string, state: string): Promise<void> {
  await fetch(`${edge.adminUrl}/servers/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ state }),
  })
}

const templateImage = (): unknown =>
  (cluster.apiServer.store.list('statefulsets.apps', 'default') as unknown as (typeof STATEFUL_SET)[])[0]!.spec.template.spec
    .containers[0]!.image

// With no server in rotation, a run has nothing to drain, and must not wait for a pod that is back.
test('with every server in maintenance the plan upgrades the pods, and so does the run, with no call', async () => {
  await setState('web-0', 'maint')
  await setState('web-1', 'maint')
  const before = edge.calls.length
  const plan = await sluice('plan', 'sts/web', 'app=app:v2')
  expect(plan).toMatchObject({ code: 1, stdout: expect.stringContaining('an operator has it out of rotation') })
  const run = await sluice('upgrade', 'sts/web', 'app=app:v2')
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('Done: 2 upgraded') })
  expect(pods().map(({ spec }) => spec.containers[0]!.image)).toEqual(['app:v2', 'app:v2'])
  expect(edge.calls.slice(before).filter(({ method }) => method !== 'GET')).toEqual([])
  expect(edge.servers().map(({ state }) => state)).toEqual(['maint', 'maint'])
})

test('with one of them put back plan and run are refused, and the template stays', async () => {
  await setState('web-0', 'maint')
  await setState('web-1', 'ready')
  const told = 'pod/web-0: out of rotation by an operator, so that with maxUnavailable 1 no other pod may leave'
  expect(await sluice('plan', 'sts/web', 'app=app:v3')).toMatchObject({ code: 3, stdout: expect.stringContaining(told) })
  expect((await sluice('upgrade', 'sts/web', 'app=app:v3')).code).toBe(3)
  expect(templateImage()).toBe('app:v2')
})

test('a plan says what a run would wait for: a pod that is not ready', async () => {
  await setState('web-0', 'ready')
  cluster.unready('default', 'web-0', 'app', 600_000)
  cluster.unready('default', 'web-1', 'app', 600_000)
  await vi.waitUntil(() => pods().every((pod) => !isReady(pod)), { timeout: 10_000 })
  const { code, stdout, stderr } = await sluice('plan', 'sts/web', 'app=app:v3')
  expect([code, stdout + stderr]).toEqual([
    1,
    expect.stringContaining(
      'no pod can start now: the window of 1 is full: web-0 is not ready, web-1 is not ready; a run waits for that until deadlines.ready is over',
    ),
  ])
})
