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

// The tests start whole processes on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000 })

const ENTRY = join(import.meta.dirname, 'sluice.ts')
const IMAGES = Object.fromEntries(['v1', 'v2', 'v3'].map((tag) => [`app:${tag}`, { digest: `sha256:${tag}` }]))
const labels = { app: 'web' }
const container = { name: 'app', image: 'app:v1', ports: [{ containerPort: 80 }] }
const STATEFUL_SET = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    serviceName: 'web',
    updateStrategy: { type: 'OnDelete' },
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } },
  },
}

let folder: string
let cluster: EmbeddedCluster
const balancers: Record<string, LoadBalancer> = {}
const pods = (): Pod[] => cluster.apiServer.store.list('pods', 'default') as Pod[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-dropped-'))
  cluster = await startEmbeddedCluster({ nodes: 1, images: IMAGES })
  await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
  cluster.apply(STATEFUL_SET)
  await vi.waitUntil(() => pods().length === 1 && pods().every(isReady), { timeout: 20_000 })
  const servers = pods().map(({ metadata: { name }, status }) => ({ name, address: `${status!.podIP!}:80` }))
  for (const name of ['edge', 'inner']) balancers[name] = await createLoadBalancer({ servers })
})
afterAll(async () => {
  await cluster?.close()
  for (const one of Object.values(balancers)) await one.close()
  rmSync(folder, { recursive: true })
})

/** Runs sluice with a config that names these load balancers. */
async function sluice(names: readonly string[], ...args: string[]) {
  const loadBalancers = names.map((name) => ({ name, adapter: 'http', port: 80, options: serversApi(balancers[name]!.adminUrl) }))
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
  const child = startChild([ENTRY, ...args], { cwd: folder, env: { HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') } })
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

// A run that does not know of the load balancer would upgrade its pods without a drain there.
test('a config that drops a load balancer which a run used is refused before anything is touched, until it is retired', async () => {
  expect((await sluice(['edge', 'inner'], 'upgrade', 'sts/web', 'app=app:v2')).code).toBe(0)
  const writes = (name: string): number => balancers[name]!.calls.filter(({ method }) => method !== 'GET').length
  const before = [writes('edge'), writes('inner')]
  expect(before).toEqual([2, 2])

  const plan = await sluice(['inner'], 'plan', 'sts/web', 'app=app:v3', '-o', 'json')
  expect(plan.code).toBe(3)
  expect(JSON.parse(plan.stdout)).toMatchObject({
    refusals: [
      {
        code: 'load-balancer-dropped',
        message: expect.stringMatching(/does not have the load balancer "edge", where run \w+ had a pod of statefulset\/web/),
        hint: expect.stringContaining('--retired-load-balancer edge'),
      },
    ],
  })
  expect((await sluice(['inner'], 'upgrade', 'sts/web', 'app=app:v3')).code).toBe(3)
  expect([writes('edge'), writes('inner'), pods()[0]!.spec.containers[0]!.image]).toEqual([...before, 'app:v2'])

  const consent = ['--retired-load-balancer', 'edge']
  expect((await sluice(['inner'], 'upgrade', 'sts/web', 'app=app:v3', ...consent)).code).toBe(0)
  // The retirement is on record.
  expect((await sluice(['inner'], 'upgrade', 'sts/web', 'app=app:v1')).code).toBe(0)
  expect([writes('edge'), writes('inner'), pods()[0]!.spec.containers[0]!.image]).toEqual([2, 6, 'app:v1'])
})
