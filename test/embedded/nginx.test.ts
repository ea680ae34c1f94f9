import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { type NginxProcess, startNginx } from '../../adapters/conformance/beds/nginx-process.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { describeOnEachNginx } from '../products/nginx.ts'

/* Whole upgrades, by processes of their own, behind a real nginx whose file has the pods of two workloads. */

const SCRIPT = join(import.meta.dirname, '../../src/cli/sluice.ts')
const PORT = 80
const WORKLOADS = ['api', 'web']
const PODS = WORKLOADS.flatMap((name) => [0, 1, 2].map((index) => `${name}-${index}`))
const KILLS = 3

let cluster: EmbeddedCluster
let folder: string
const cleanups: (() => Promise<unknown>)[] = []

function pods(): Pod[] {
  return (cluster.apiServer.store.list('pods', 'default') as Pod[]).toSorted((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  )
}

// The runs on record name the file of their load balancer, which is another one in each test.
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-embedded-nginx-'))
  const images = Object.fromEntries([1, 2].map((index) => [`app:v${index}`, { digest: `sha256:${index}` }]))
  cluster = await startEmbeddedCluster({ nodes: 2, images })
  await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
  for (const name of WORKLOADS) {
    const labels = { app: name }
    const containers = [{ name: 'app', image: 'app:v1', ports: [{ containerPort: PORT }], readinessProbe: { periodSeconds: 1 } }]
    cluster.apply({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name },
      spec: {
        replicas: 3,
        serviceName: name,
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'OnDelete' },
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers } },
      },
    })
  }
  const areReady = () => expect([pods().length, pods().every(isReady)]).toEqual([PODS.length, true])
  await vi.waitFor(areReady, { timeout: 60_000, interval: 50 })
}, 90_000)

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  await cluster?.close()
  await rm(folder, { recursive: true, force: true })
})

interface Balancer {
  process: NginxProcess
  /** The file as it was before any upgrade. */
  before: string
  configFile: string
  /** What nginx was told to load, from then on: of each pod whether it was down, without repetitions. */
  loaded(): Record<string, boolean[]>
}

function addressOf(pod: Pod): string {
  return pod.status!.podIP!
}

function ofWorkload(name: string): Pod[] {
  return pods().filter(({ metadata }) => metadata.name.startsWith(`${name}-`))
}

async function balance(program: string): Promise<Balancer> {
  const process = await startNginx({
    program,
    servers: ofWorkload('web').map((pod) => ({ address: addressOf(pod), port: PORT })),
  })
  cleanups.push(() => process.stop())
  const api = ofWorkload('api').map((pod) => `server ${addressOf(pod)};`)
  await process.edit((text) => `${text}upstream api { ${api.join(' ')} }\n`)
  const log = join(process.folder, 'loaded')
  await writeFile(log, '')
  const reload = [...process.command, '-s', 'reload']
  const options = {
    file: process.upstreamFile,
    pidFile: process.pidFile,
    test: [...process.command, '-t'],
    // Between the two, another process may write.
    reload: ['sh', '-c', 'cat "$0" >>"$1"; echo "--" >>"$1"; shift; exec "$@"', process.upstreamFile, log, ...reload],
    settle: '0s',
  }
  const loadBalancers = WORKLOADS.map((upstream) => ({
    name: upstream,
    adapter: 'nginx',
    port: PORT,
    options: { ...options, upstream },
  }))
  const configFile = join(folder, 'sluice.yaml')
  await writeFile(configFile, stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
  return {
    process,
    before: process.upstream(),
    configFile,
    loaded() {
      const texts = readFileSync(log, 'utf8').split('--\n').slice(0, -1)
      return Object.fromEntries(
        pods().map((pod) => {
          const line = new RegExp(`server ${addressOf(pod).replaceAll('.', '\\.')}(?::80)?( down)?;`)
          const states = texts.map((text) => line.exec(text)![1] !== undefined)
          return [pod.metadata.name, states.filter((state, index) => state !== states[index - 1])]
        }),
      )
    },
  }
}

function upgrade({ configFile }: Balancer, workload: string): { child: ChildProcess; ended: Promise<unknown> } {
  // Each workload is behind one of the two.
  const where = ['--config', configFile, '--kubeconfig', join(folder, 'kubeconfig'), '--allow-unbalanced']
  const child = spawn(process.execPath, [SCRIPT, 'upgrade', `statefulset/${workload}`, 'app=app:v2', ...where], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  cleanups.push(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })
  return { child, ended: once(child, 'close').then(([code]) => (code === 0 ? 'done' : `${code}: ${said}`)) }
}

/** In rotation, out once, and in rotation again. */
const ONCE = [false, true, false]

function onceEach(loaded: Record<string, boolean[]>, of: readonly string[]): Record<string, boolean[]> {
  // The first reload is that of a drain: a server that was drained by it has no state before.
  return Object.fromEntries(of.map((name) => [name, loaded[name]![0] === true ? [false, ...loaded[name]!] : loaded[name]!]))
}

await describeOnEachNginx((program) => {
  test('two workloads at once: each pod is drained once and put back once, and the file is as it was', async () => {
    const balancer = await balance(program)
    expect(await Promise.all(WORKLOADS.map((name) => upgrade(balancer, name).ended))).toEqual(['done', 'done'])
    expect(onceEach(balancer.loaded(), PODS)).toEqual(Object.fromEntries(PODS.map((name) => [name, ONCE])))
    expect(balancer.process.upstream()).toBe(balancer.before)
  }, 120_000)

  test('killed at random moments: the same, whoever goes on', async () => {
    const balancer = await balance(program)
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { child, ended } = upgrade(balancer, 'web')
      await new Promise((resolve) => setTimeout(resolve, 1_000 + Math.random() * 4_000))
      child.kill('SIGKILL')
      await ended
    }
    expect(await upgrade(balancer, 'web').ended).toBe('done')
    const web = PODS.filter((name) => name.startsWith('web'))
    expect(onceEach(balancer.loaded(), web)).toEqual(Object.fromEntries(web.map((name) => [name, ONCE])))
    expect(balancer.process.upstream()).toBe(balancer.before)
  }, 240_000)
})
