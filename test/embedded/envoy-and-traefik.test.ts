import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import { type EdsFile, type EnvoyProcess, startEnvoy } from '../../adapters/conformance/beds/envoy-process.ts'
import { type DynamicFile, startTraefik, type TraefikProcess } from '../../adapters/conformance/beds/traefik-process.ts'
import type { Endpoint } from '../../adapters/contract.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { findProduct } from '../products/find-product.ts'
import { describeOn } from '../products/program.ts'

/* Whole upgrades, by processes of their own, behind an Envoy and a Traefik at once, each with its file. */

const SCRIPT = join(import.meta.dirname, '../../src/cli/sluice.ts')
const PORT = 80
const PODS = 3
const KILLS = 4
/** A prefix that keeps each text of the file: arguments are the file, the log, and what is to be run. */
const RECORD = 'file=$1 log=$2; shift 2; "$@"; status=$?; cat "$file" >>"$log"; echo "--" >>"$log"; exit $status'
const ONCE_EACH = Array.from({ length: PODS }, () => [false, true, false])

const [envoyProgram, traefikProgram] = [await findProduct('envoy'), await findProduct('traefik')]
const both = { ...envoyProgram, title: `${envoyProgram.title} and ${traefikProgram.title}` }

describeOn(traefikProgram.program === undefined ? { ...both, program: undefined } : both, (program) => {
  let cluster: EmbeddedCluster
  let folder: string
  let envoy: EnvoyProcess
  let traefik: TraefikProcess
  let configFile: string
  let logs: { envoy: string; traefik: string }
  let before: { envoy: string; traefik: string }
  let release = 1
  const running = new Set<ChildProcess>()

  function pods(): Pod[] {
    const all = cluster.apiServer.store.list('pods', 'default') as Pod[]
    return all.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }
  const images = (): (string | undefined)[] => pods().map(({ spec }) => spec.containers[0]?.image)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-two-'))
    const known = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`app:v${index}`, { digest: `sha256:${index}` }]))
    cluster = await startEmbeddedCluster({ nodes: 2, images: known })
    await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
    const labels = { app: 'web' }
    const containers = [{ name: 'app', image: 'app:v1', ports: [{ containerPort: PORT }], readinessProbe: { periodSeconds: 1 } }]
    cluster.apply({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'web' },
      spec: {
        replicas: PODS,
        serviceName: 'web',
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'OnDelete' },
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers } },
      },
    })
    const areReady = () => expect([pods().length, pods().every(isReady)]).toEqual([PODS, true])
    await vi.waitFor(areReady, { timeout: 60_000, interval: 50 })
  }, 90_000)

  afterAll(async () => {
    await cluster?.close()
    await rm(folder, { recursive: true, force: true })
  })

  beforeEach(async () => {
    release += 1
    // The same for each: a run on record is of load balancers that the config still has.
    const own = join(folder, 'balancers')
    await rm(own, { recursive: true, force: true })
    await mkdir(own)
    const endpoints = pods().map(({ metadata, status }): Endpoint => {
      return { uid: metadata.uid, pod: metadata.name, address: status!.podIP!, port: PORT }
    })
    // The pods are simulated: no request reaches them, and no health check.
    envoy = await startEnvoy({ program, folder: own, endpoints, checked: 0 })
    traefik = await startTraefik({
      program: traefikProgram.program!,
      folder: own,
      endpoints,
      throttle: '100ms',
      checkEvery: 'never',
    })
    before = { envoy: readFileSync(envoy.file, 'utf8'), traefik: readFileSync(traefik.file, 'utf8') }
    logs = { envoy: join(own, 'envoy.log'), traefik: join(own, 'traefik.log') }
    for (const log of Object.values(logs)) await writeFile(log, '')
    const record = (file: string, log: string): string[] => ['sh', '-c', RECORD, 'record', file, log]
    const loadBalancers = [
      {
        name: 'mesh',
        adapter: 'envoy',
        port: PORT,
        options: { file: envoy.file, prefix: record(envoy.file, logs.envoy), cluster: 'web', admin: [envoy.admin] },
      },
      {
        name: 'edge',
        adapter: 'traefik',
        port: PORT,
        options: {
          file: traefik.file,
          prefix: record(traefik.file, logs.traefik),
          service: 'web',
          api: [traefik.api],
          throttle: '100ms',
          settle: '0s',
        },
      },
    ]
    configFile = join(own, 'sluice.yaml')
    await writeFile(configFile, stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
  })

  afterEach(async () => {
    for (const child of running) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    await Promise.all([envoy?.stop(), traefik?.stop()])
  })

  function upgrade(): { child: ChildProcess; ended: Promise<{ code: number | null; said: string }> } {
    const where = ['--config', configFile, '--kubeconfig', join(folder, 'kubeconfig')]
    const child = spawn(process.execPath, [SCRIPT, 'upgrade', 'statefulset/web', `app=app:v${release}`, ...where], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    child.once('exit', () => running.delete(child))
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text))
    return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, said })) }
  }

  /** Of each pod whether it was out, in each text of the file, without repetitions. */
  function history(log: string, outs: (text: string) => boolean[]): boolean[][] {
    const texts = readFileSync(log, 'utf8').split('--\n').slice(0, -1)
    const states = texts.map(outs)
    return Array.from({ length: PODS }, (_, pod) => {
      const own = states.map((all) => all[pod]!)
      return own.filter((out, index) => index === 0 || out !== own[index - 1])
    })
  }
  const envoyHistory = (): boolean[][] =>
    history(logs.envoy, (text) => {
      const [{ endpoints }] = (parse(text) as EdsFile).resources as [EdsFile['resources'][number]]
      return endpoints[0]!.lb_endpoints.map(({ health_status: status }) => status === 'DRAINING')
    })
  const traefikHistory = (): boolean[][] =>
    history(logs.traefik, (text) =>
      (parse(text) as DynamicFile).http.services.web.loadBalancer.servers.map(({ weight }) => weight === 0),
    )

  function expectOnceEach(): void {
    expect(envoyHistory()).toEqual(ONCE_EACH)
    expect(traefikHistory()).toEqual(ONCE_EACH)
    expect(images()).toEqual(Array.from({ length: PODS }, () => `app:v${release}`))
    expect(readFileSync(traefik.file, 'utf8')).toBe(before.traefik)
    expect(readFileSync(envoy.file, 'utf8')).toBe(
      before.envoy.replace(/^version_info: .*$/m, /^version_info: .*$/m.exec(readFileSync(envoy.file, 'utf8'))![0]),
    )
  }

  test('three pods: each is out once in both files, and both files are as before', async () => {
    const { code, said } = await upgrade().ended
    expect(code, said).toBe(0)
    expectOnceEach()
    expect(await envoy.ask('/stats?filter=cluster.web.update_rejected')).toContain(': 0')
    // Negative control: a second drain of one pod would be seen.
    const text = before.traefik.replace('- url:', '- weight: 0\n            url:')
    appendFileSync(logs.traefik, `${text}--\n${before.traefik}--\n`)
    expect(traefikHistory()).toEqual([[false, true, false, true, false], ...ONCE_EACH.slice(1)])
  }, 90_000)

  test(`killed at ${KILLS} random moments, whoever goes on changes nothing twice`, async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { child, ended } = upgrade()
      await Promise.race([sleep(500 + Math.random() * 3_000), ended])
      child.kill('SIGKILL')
      await ended
    }
    const { code, said } = await upgrade().ended
    expect(code, said).toBe(0)
    expectOnceEach()
  }, 180_000)
})
