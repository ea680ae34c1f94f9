/**
 * StatefulSets of ready pods in an embedded cluster, and `sluice upgrade` as processes of their own: the parts of a whole upgrade besides
 * the load balancer.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { stringify } from 'yaml'
import type { Endpoint } from '../../adapters/contract.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { appContainer, statefulSet } from './stateful-set.ts'

/** The port of each pod. */
export const PORT = 80

const SCRIPT = join(import.meta.dirname, '../../src/cli/sluice.ts')
const RELEASES = 20

export interface ProductBed {
  readonly cluster: EmbeddedCluster
  /** A folder that is removed at the end. */
  readonly folder: string
  /** Returns the pods by name, of one workload or of all. */
  pods(workload?: string): Pod[]
  names(workload?: string): string[]
  endpoints(workload?: string): Endpoint[]
  images(workload?: string): string[]
  /** Returns the path of a config with these load balancers, and with the fields of `more`. */
  configure(loadBalancers: readonly object[], file?: string, more?: object): Promise<string>
  /** Returns the image of the next release, which no pod has yet. */
  nextImage(): string
  /** Starts `sluice upgrade` to this image, or another command with these arguments. */
  upgrade(options: UpgradeOptions): Upgrade
  /** Ends the upgrades that still run. */
  endUpgrades(): Promise<void>
  stop(): Promise<void>
}

export interface UpgradeOptions {
  config: string
  image: string
  /** The container that gets the image; the application by default. */
  container?: string
  workload?: string
  command?: 'upgrade' | 'plan'
  more?: readonly string[]
}

export interface Upgrade {
  child: ChildProcess
  /** `code` is null where a signal has ended the process; `said` is its whole output. */
  ended: Promise<{ code: number | null; said: string; stderr: string }>
}

/** Starts a bed with workloads by name and number of pods. Each pod has the `sidecars` beside the application. */
export async function startProductBed(
  workloads: Readonly<Record<string, number>>,
  sidecars: readonly string[] = [],
): Promise<ProductBed> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-product-'))
  const releases = Array.from({ length: RELEASES }, (_, index) => [`app:v${index}`, { digest: `sha256:${index}` }])
  const cluster = await startEmbeddedCluster({ nodes: 2, images: Object.fromEntries(releases) })
  const kubeconfig = join(folder, 'kubeconfig')
  await writeKubeconfig(kubeconfig, cluster.url)
  const containers = [appContainer(PORT), ...sidecars.map((sidecar) => ({ name: sidecar, image: 'app:v1' }))]
  for (const [name, replicas] of Object.entries(workloads)) cluster.apply(statefulSet(name, replicas, containers))
  const running = new Map<ChildProcess, Promise<unknown>>()
  let release = 1

  function pods(workload?: string): Pod[] {
    const all = cluster.apiServer.store.list('pods', 'default') as Pod[]
    const own = workload === undefined ? all : all.filter(({ metadata }) => metadata.labels?.['app'] === workload)
    return own.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name, 'en', { numeric: true }))
  }

  async function endUpgrades(): Promise<void> {
    const exits = [...running.values()]
    for (const child of running.keys()) child.kill('SIGKILL')
    await Promise.all(exits)
  }

  const count = Object.values(workloads).reduce((sum, replicas) => sum + replicas, 0)
  const areReady = () => expect([pods().length, pods().every(isReady)]).toEqual([count, true])
  await vi.waitFor(areReady, { timeout: 60_000, interval: 50 })

  return {
    cluster,
    folder,
    pods,
    names: (workload) => pods(workload).map(({ metadata }) => metadata.name),
    endpoints: (workload) =>
      pods(workload).map(({ metadata: { uid, name }, status }) => ({ uid, pod: name, address: status!.podIP!, port: PORT })),
    images: (workload) => pods(workload).map(({ spec }) => spec.containers[0]!.image),
    async configure(loadBalancers, file = 'sluice.yaml', more = {}) {
      const path = join(folder, file)
      await writeFile(path, stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers, ...more }))
      return path
    },
    nextImage: () => `app:v${(release += 1)}`,
    upgrade({ config, image, container = 'app', workload = 'web', command = 'upgrade', more = [] }) {
      const where = ['--config', config, '--kubeconfig', kubeconfig]
      const args = [SCRIPT, command, `statefulset/${workload}`, `${container}=${image}`, ...where, ...more]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
      running.set(child, once(child, 'exit'))
      child.once('exit', () => running.delete(child))
      let said = ''
      let stderr = ''
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text))
      child.stderr.on('data', (text: string) => (stderr += text))
      return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, said, stderr })) }
    },
    endUpgrades,
    async stop() {
      await endUpgrades()
      await cluster.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Expects that an upgrade succeeds. Otherwise the test shows its output. */
export async function expectDone({ ended }: Upgrade): Promise<void> {
  const { code, said } = await ended
  expect(code, said).toBe(0)
}
