import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { type CaddyProcess, HANDLER, startCaddy, type Upstream } from '../../adapters/conformance/beds/caddy-process.ts'
import { type RecordingProxy, startRecordingProxy } from '../../adapters/presets/testing/recording-proxy.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { findProduct } from '../products/find-product.ts'
import { describeOn } from '../products/program.ts'

/* Whole upgrades, by processes of their own, behind Caddy itself, whose drain takes the entry of a pod away. */

const SCRIPT = join(import.meta.dirname, '../../src/cli/sluice.ts')
const PORT = 80
const PODS = ['web-0', 'web-1', 'web-2']

describeOn(await findProduct('caddy'), (program) => {
  let cluster: EmbeddedCluster
  let caddy: CaddyProcess
  let proxy: RecordingProxy
  let folder: string
  let release = 1
  const cleanups: (() => unknown)[] = []

  function pods(): Pod[] {
    const all = cluster.apiServer.store.list('pods', 'default') as Pod[]
    return all.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }
  const images = (): (string | undefined)[] => pods().map(({ spec }) => spec.containers[0]?.image)
  const dialOf = ({ status }: Pod): string => `${status!.podIP!}:${PORT}`

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-caddy-'))
    const known = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`app:v${index}`, { digest: `sha256:${index}` }]))
    cluster = await startEmbeddedCluster({ nodes: 2, images: known })
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

  beforeEach(async () => {
    const endpoints = pods().map((pod) => ({
      uid: pod.metadata.uid,
      pod: pod.metadata.name,
      address: pod.status!.podIP!,
      port: PORT,
    }))
    caddy = await startCaddy(program, endpoints)
    proxy = await startRecordingProxy(caddy.adminUrl)
  })
  afterEach(async () => {
    for (const clean of cleanups.splice(0).toReversed()) await clean()
    proxy.close()
    await caddy.stop()
  })
  afterAll(async () => {
    await cluster?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** `sluice upgrade` to the release; resolves with the exit code, or null where it was killed. */
  function upgrade({ kill }: { kill?: (end: () => void) => void } = {}): Promise<{ code: number | null; stderr: string }> {
    const options = { url: proxy.url, handler: `id/${HANDLER}`, host: caddy.adminHost }
    const edge = { name: 'edge', adapter: 'caddy', port: PORT, options }
    const config = { apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [edge] }
    const configFile = join(folder, 'sluice.yaml')
    return writeFile(configFile, stringify(config)).then(async () => {
      const where = ['--config', configFile, '--kubeconfig', join(folder, 'kubeconfig')]
      const args = [SCRIPT, 'upgrade', 'statefulset/web', `app=app:v${release}`, ...where]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      cleanups.push(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return
        child.kill('SIGKILL')
        await once(child, 'exit')
      })
      kill?.(() => child.kill('SIGKILL'))
      const [code] = (await once(child, 'close')) as [number | null]
      return { code, stderr }
    })
  }

  /** What each change that was done left in the array, by the names of pods: `web-0 web-1`. Repetitions are left out. */
  function history(): string[] {
    const names = new Map(pods().map((pod) => [dialOf(pod), pod.metadata.name]))
    const done = proxy.writes.filter(({ status }) => status === 200)
    const states = done.map(({ body }) =>
      (JSON.parse(body) as Upstream[])
        .map(({ dial }) => names.get(dial)!)
        .sort()
        .join(' '),
    )
    return states.filter((state, index) => state !== (states[index - 1] ?? ALL))
  }
  const ALL = PODS.join(' ')
  const ONCE_EACH = PODS.toReversed().flatMap((name) => [PODS.filter((other) => other !== name).join(' '), ALL])
  const asConfigured = async (): Promise<string[]> => (await caddy.upstreams()).map(({ dial }) => dial).sort()

  test('three pods: each is taken away once, and put back once', async () => {
    release += 1
    const { code, stderr } = await upgrade()
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
    expect(history()).toEqual(ONCE_EACH)
    expect(proxy.writes).toHaveLength(6)
    expect(images()).toEqual(PODS.map(() => `app:v${release}`))
    expect(await asConfigured()).toEqual(pods().map(dialOf).sort())
  }, 90_000)

  test.each([1, 2])(
    'killed once change %i is done and not answered: whoever goes on takes none away twice',
    async (number) => {
      release += 1
      const first = await upgrade({
        kill: (end) => {
          proxy.onDone = () => {
            if (proxy.writes.length === number) end()
          }
        },
      })
      expect(first.code).toBe(null)
      proxy.onDone = undefined
      const second = await upgrade()
      expect([second.code, second.code === 0 ? '' : second.stderr]).toEqual([0, ''])
      expect(history()).toEqual(ONCE_EACH)
      expect(images()).toEqual(PODS.map(() => `app:v${release}`))
      expect(await asConfigured()).toEqual(pods().map(dialOf).sort())
    },
    180_000,
  )
})
