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
const IMAGES = Object.fromEntries(['v1', 'v2'].map((tag) => [`app:${tag}`, { digest: `sha256:${tag}` }]))
const HOST_PORT = 30_080
const labels = { app: 'gate' }
const container = { name: 'app', image: 'app:v1', ports: [{ containerPort: 80, hostPort: HOST_PORT, protocol: 'TCP' }] }
const DAEMON_SET = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'gate' },
  spec: {
    updateStrategy: { type: 'OnDelete' },
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } },
  },
}

let folder: string
let cluster: EmbeddedCluster
/** `edge` has entries with the addresses of the nodes, and none with those of the pods. */
let edge: LoadBalancer
let empty: LoadBalancer
const pods = (): Pod[] => cluster.apiServer.store.list('pods', 'default') as Pod[]
const hostOf = ({ status }: Pod): string => (status as { hostIP: string }).hostIP

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-host-port-'))
  cluster = await startEmbeddedCluster({ nodes: 2, images: IMAGES })
  await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
  cluster.apply(DAEMON_SET)
  await vi.waitUntil(() => pods().length === 2 && pods().every(isReady), { timeout: 20_000 })
  const [first, second] = pods()
  edge = await createLoadBalancer({
    servers: [
      { name: 'node-a', address: `${hostOf(first!)}:${HOST_PORT}` },
      { name: 'node-b', address: `${hostOf(second!)}:${HOST_PORT}` },
      { name: 'pod-b', address: `${second!.status!.podIP!}:80` },
    ],
  })
  empty = await createLoadBalancer({ servers: [{ name: 'other', address: '10.99.0.1:80' }] })
})
afterAll(async () => {
  await cluster?.close()
  await edge?.close()
  await empty?.close()
  rmSync(folder, { recursive: true })
})

async function sluice({ adminUrl }: LoadBalancer, ...args: string[]) {
  const loadBalancers = [{ name: 'edge', adapter: 'http', port: 80, options: serversApi(adminUrl) }]
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
  const child = startChild([ENTRY, ...args], { cwd: folder, env: { HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') } })
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

test('a pod that no load balancer has at its own address or its node’s is refused, and the addresses are named', async () => {
  const [pod] = pods()
  const where = `${pod!.status!.podIP!}:80 or ${hostOf(pod!)}:${HOST_PORT}`
  const plan = await sluice(empty, 'plan', 'ds/gate', 'app=app:v2')
  expect([plan.code, plan.stdout]).toEqual([3, expect.stringContaining(`none of 1 entries has the address ${where}`)])
  // The reason names the entries that were looked for. "Nothing to drain" alone would hide a wrong address.
  const allowed = await sluice(empty, 'plan', 'ds/gate', 'app=app:v2', '--allow-unbalanced', '-o', 'json')
  expect(allowed.code).toBe(1)
  const reasons = (JSON.parse(allowed.stdout) as { pods: { name: string; reason: object }[] }).pods
  expect(reasons.find(({ name }) => name === pod!.metadata.name)!.reason).toMatchObject({
    code: 'to-upgrade',
    rotation: 'none',
    lookedFor: [{ code: 'no-entry-at', loadBalancer: 'edge', addresses: where.split(' or ') }],
    message: `edge has no entry at ${where}: no drain`,
  })
})

test('a pod behind the host port of its node is drained there, and put back', async () => {
  const run = await sluice(edge, 'upgrade', 'ds/gate', 'app=app:v2')
  expect([run.code, run.stderr, run.stdout]).toEqual([0, expect.any(String), expect.stringContaining('Done: 2 upgraded')])
  expect(pods().map(({ spec }) => spec.containers[0]!.image)).toEqual(['app:v2', 'app:v2'])
  const writes = edge.calls.filter(({ method }) => method !== 'GET')
  for (const name of ['node-a', 'node-b', 'pod-b'])
    expect([name, writes.filter(({ path }) => path.endsWith(`/${name}`)).length]).toEqual([name, 2])
  expect(edge.servers().map(({ state }) => state)).toEqual(['ready', 'ready', 'ready'])
})
