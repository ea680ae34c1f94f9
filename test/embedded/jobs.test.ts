import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { type JobBalancer, startJobBalancer } from './job-balancer.ts'

/* Whole upgrades, by processes of their own, behind a load balancer whose changes are accepted with 202 and done later. */

const SCRIPT = join(import.meta.dirname, '../../src/cli/sluice.ts')
const PORT = 80
const PODS = ['web-0', 'web-1', 'web-2']
/** One effect, one call: in the order of the rollout. */
const ONCE_EACH = PODS.toReversed().flatMap((name) => [`${name} drain 202`, `${name} ready 202`])

let cluster: EmbeddedCluster
let folder: string
let release = 1
const cleanups: (() => Promise<unknown>)[] = []

function pods(): Pod[] {
  return (cluster.apiServer.store.list('pods', 'default') as Pod[]).toSorted((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  )
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-jobs-'))
  const images = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`app:v${index}`, { digest: `sha256:${index}` }]))
  cluster = await startEmbeddedCluster({ nodes: 2, images })
  await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
  const labels = { app: 'web' }
  const containers = [{ name: 'app', image: 'app:v1', ports: [{ containerPort: PORT }], readinessProbe: { periodSeconds: 1 } }]
  cluster.apply({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web' },
    spec: {
      replicas: PODS.length,
      serviceName: 'web',
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers } },
    },
  })
  const areReady = () => expect([pods().length, pods().every(isReady)]).toEqual([PODS.length, true])
  await vi.waitFor(areReady, { timeout: 60_000, interval: 50 })
}, 90_000)

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

afterAll(async () => {
  await cluster?.close()
  await rm(folder, { recursive: true, force: true })
})

async function balance({ jobMs }: { jobMs: number }): Promise<JobBalancer> {
  const servers = pods().map(({ metadata: { name }, status }) => ({
    name,
    address: `${status!.podIP}:${PORT}`,
    state: 'ready',
  }))
  const balancer = await startJobBalancer({ servers, jobMs })
  cleanups.push(balancer.stop)
  return balancer
}

/** `sluice upgrade` to the next release, or to the one of the call before. */
async function upgrade(
  { url }: JobBalancer,
  { again = false }: { again?: boolean } = {},
): Promise<{ child: ChildProcess; ended: Promise<{ code: number | null; stderr: string }> }> {
  if (!again) release += 1
  const path = '/servers/${target.id}'
  const options = {
    url,
    targets: { request: { path: '/servers' }, each: 'body.servers', id: 'entry.name', address: 'entry.address' },
    inspect: { admin: 'entry.state == "ready" ? "in" : "draining"', prior: '{"state": entry.state}' },
    drain: { method: 'PUT', path, body: { state: 'drain' }, expect: [202] },
    restore: { method: 'PUT', path, body: { state: '${prior.state}' }, expect: [202] },
  }
  const edge = { name: 'edge', adapter: 'http', port: PORT, options }
  const config = { apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [edge] }
  const configFile = join(folder, 'sluice.yaml')
  await writeFile(configFile, stringify(config))
  const where = ['--config', configFile, '--kubeconfig', join(folder, 'kubeconfig')]
  const child = spawn(process.execPath, [SCRIPT, 'upgrade', 'statefulset/web', `app=app:v${release}`, ...where], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  cleanups.push(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }))
  return { child, ended }
}

const inRotation = ({ servers }: JobBalancer): boolean => servers.every(({ state }) => state === 'ready')

test('three pods: one call an effect, though each is done a second and a half after its answer', async () => {
  const balancer = await balance({ jobMs: 1_500 })
  const { code, stderr } = await (await upgrade(balancer)).ended
  expect([code, stderr.includes('202')]).toEqual([0, false])
  expect(balancer.writes).toEqual(ONCE_EACH)
  expect(inRotation(balancer)).toBe(true)
}, 90_000)

test('killed right after a drain and a restore were accepted: whoever goes on waits for them, and sends none twice', async () => {
  const balancer = await balance({ jobMs: 2_000 })
  let running: ChildProcess | undefined
  let left = ['web-2 drain', 'web-2 ready']
  balancer.onAccepted((write) => {
    if (!left.includes(write)) return
    left = left.filter((one) => one !== write)
    running!.kill('SIGKILL')
  })
  const codes: (number | null)[] = []
  for (const again of [false, true, true]) {
    const { child, ended } = await upgrade(balancer, { again })
    running = child
    codes.push((await ended).code)
  }
  expect(codes).toEqual([null, null, 0])
  expect(balancer.writes).toEqual(ONCE_EACH)
  expect(inRotation(balancer)).toBe(true)
}, 180_000)
