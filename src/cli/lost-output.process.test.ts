import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createLoadBalancer, type LoadBalancer } from '../../demo/load-balancer/load-balancer.ts'
import { startEmbeddedCluster, type EmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'

const ENTRY = join(import.meta.dirname, 'sluice.ts')
const RUN = join(import.meta.dirname, 'testing/fake-upgrade.ts')
/** A file of Linux that behaves like one on a full disk. */
const FULL_DISK = '/dev/full'
const LOST = 'stdout is lost (ENOSPC: no space left on device, write); the command goes on without it\n'
const FAILED = `${LOST}error: what this command prints is its only result, and it is not all there\n`

const IMAGES = { 'app:v1': { digest: 'sha256:1' }, 'app:v2': { digest: 'sha256:2' } }
const labels = { app: 'web' }
const STATEFUL_SET = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    serviceName: 'web',
    updateStrategy: { type: 'OnDelete' },
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:v1' }] } },
  },
}

let folder: string
let cluster: EmbeddedCluster
let balancer: LoadBalancer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-lost-'))
  balancer = await createLoadBalancer({ servers: [{ name: 'web-0', address: '127.0.0.1:1' }] })
  const path = '/servers/${target.id}'
  const options = {
    url: balancer.adminUrl,
    targets: { id: 'endpoint.pod' },
    inspect: { request: { path }, admin: 'entry.state == "ready" ? "in" : "draining"', prior: '{"state": entry.state}' },
    drain: { method: 'PUT', path, body: { state: 'drain' } },
    restore: { method: 'PUT', path, body: { state: '${prior.state}' } },
  }
  const loadBalancers = [{ name: 'edge', adapter: 'http', port: 80, options }]
  // Any JSON is YAML.
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
  cluster = await startEmbeddedCluster({ nodes: 1, images: IMAGES })
  await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
  cluster.apply(STATEFUL_SET)
  const pods = (): Pod[] => cluster.apiServer.store.list('pods', 'default') as Pod[]
  await vi.waitUntil(() => pods().length === 1 && pods().every(isReady), { timeout: 20_000 })
})
afterAll(async () => {
  await cluster?.close()
  await balancer?.close()
  rmSync(folder, { recursive: true })
})

/** Runs a process whose stdout is `stdout`, and returns how it ended. */
async function ending(args: readonly string[], stdout: number | 'pipe', { program = process.execPath, env: more = {} } = {}) {
  const env = { ...more, HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') }
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', stdout, 'pipe'] })
  // The pipe is closed before the process can write.
  child.stdout?.destroy()
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number]
  return { code, stderr }
}

describe.skipIf(!existsSync(FULL_DISK))('stdout that a full disk does not take', () => {
  test.each<[string, string[], number, string]>([
    ['version', [ENTRY, 'version', '-o', 'json'], 1, FAILED],
    ['a help text', [ENTRY, 'upgrade', '--help'], 1, FAILED],
    ['a status', [ENTRY, 'status'], 1, FAILED],
    ['a list of runs', [ENTRY, 'report'], 1, FAILED],
    ['what a cleanup would remove', [ENTRY, 'cleanup', '--dry-run'], 1, FAILED],
    ['a plan with changes', [ENTRY, 'plan', 'sts/web', 'app=app:v2', '-o', 'json'], 3, FAILED],
    ['a plan without', [ENTRY, 'plan', 'sts/web'], 3, FAILED],
    ['a dry run', [ENTRY, 'upgrade', 'sts/web', 'app=app:v2', '--dry-run'], 3, FAILED],
    ['what a cleanup has removed', [ENTRY, 'cleanup'], 0, LOST],
    ['a run that is done', [RUN, 'done'], 0, LOST],
    ['a run that has failed', [RUN, 'failed'], 1, LOST],
  ])('%s', async (_what, args, code, stderr) => {
    const full = openSync(FULL_DISK, 'w')
    onTestFinished(() => closeSync(full))
    expect(await ending(args, full)).toEqual({ code, stderr })
  })
})

test.skipIf(process.platform === 'win32')('a disk that takes the beginning of a text, and not all of it', async () => {
  const file = openSync(join(folder, 'beginning'), 'w')
  onTestFinished(() => closeSync(file))
  // A shell counts the limit in blocks of 512 or 1024 bytes.
  const limited = ['-c', 'ulimit -f 1; exec "$@"', 'sh', process.execPath]
  const env = { NODE_DISABLE_COMPILE_CACHE: '1' }
  const plan = [ENTRY, 'plan', 'sts/web', 'app=app:v2', '-o', 'json']
  const { code, stderr } = await ending([...limited, ...plan], file, { program: 'sh', env })
  expect(stderr).toContain('stdout is lost (EFBIG')
  expect(code).toBe(3)
  expect(statSync(join(folder, 'beginning')).size).toBeGreaterThan(0)
})

test('a reader that has gone, such as head, is no failure', async () => {
  expect(await ending([ENTRY, 'version'], 'pipe')).toEqual({ code: 0, stderr: '' })
  expect(await ending([ENTRY, 'plan', 'sts/web', 'app=app:v2'], 'pipe')).toEqual({ code: 1, stderr: '' })
})

test('control: what these commands exit with where their output is taken', async () => {
  const taken = openSync(join(folder, 'taken'), 'w')
  onTestFinished(() => closeSync(taken))
  expect(await ending([ENTRY, 'plan', 'sts/web', 'app=app:v2'], taken)).toEqual({ code: 1, stderr: '' })
  expect(await ending([ENTRY, 'plan', 'sts/web'], taken)).toEqual({ code: 0, stderr: '' })
  expect(await ending([ENTRY, 'status'], taken)).toEqual({ code: 0, stderr: '' })
})
