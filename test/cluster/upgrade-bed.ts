import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments, stringify } from 'yaml'
import { rbacManifest } from '../../src/cli/output/rbac-manifest.ts'
import type { RunEvent, RunResult } from '../../src/engine/events.ts'
import type { AuditEvent, AuditFilter } from './audit.ts'
import type { Cluster } from './cluster.ts'
import { startHaproxy } from './haproxy.ts'
import type { Haproxy, HaproxyOptions } from './haproxy.ts'
import type { KubeObject } from './kube-api.ts'
import { appPort, namespace } from './manifests.ts'
import { startTraffic } from './traffic.ts'
import type { Traffic, TrafficOptions } from './traffic.ts'
import { tally } from './tally.ts'
import { removeNamespace, waitForPods } from './workloads.ts'

const SLUICE = fileURLToPath(new URL('../../src/cli/sluice.ts', import.meta.url))
/** The identity of sluice. It has the rights that `sluice rbac` prints and no others. */
export const RUNNER = 'sluice-runner'

/** The commands that reach a load balancer. */
const NEEDS_CONFIG = new Set(['upgrade', 'plan', 'abort', 'undo'])

export interface UpgradeBedOptions {
  /** The Kubernetes namespace. Each test has one. */
  name: string
  /** The objects of the test: workloads, pods, Services. */
  objects: KubeObject[]
  /** The app label of the pods. The bed waits for them, and they are the servers of HAProxy by their names. */
  app: string
  count: number
  /** The port of the pods. It differs from `appPort` for pods in the network of the host, which HAProxy shares. */
  port?: number
  /** Further servers without upgrades, which carry the traffic where there is only one pod. */
  peers?: { app: string; count: number }
  /** Overrides the defaults of sluice.yaml, such as `{ rollout: { maxUnavailable: 3 } }`. */
  config?: Record<string, unknown>
  haproxy?: Omit<HaproxyOptions, 'servers' | 'backends'>
}

export interface SluiceExit {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** The events, with `-o jsonl`. */
  events: RunEvent[]
  /** The result, with `-o jsonl` and where the run came to its end. */
  result: RunResult | undefined
}

export interface SluiceProcess {
  child: ChildProcess
  /** Returns the events so far, with `-o jsonl`. */
  events(): RunEvent[]
  /** Resolves when such an event has come. Rejects when the process ends without it. */
  seen(like: (event: RunEvent) => boolean): Promise<RunEvent>
  exit: Promise<SluiceExit>
}

/** A workload with real pods behind a real HAProxy, and sluice as a process of its own with the least rights. */
export interface UpgradeBed {
  readonly namespace: string
  readonly haproxy: Haproxy
  readonly cluster: Cluster
  readonly configFile: string
  pods(): Promise<KubeObject[]>
  /** Starts `sluice ARGS` in this namespace. Flags in ARGS override the usual ones. */
  start(args: string[], options?: { jsonl?: boolean }): SluiceProcess
  /** Runs `upgrade ARGS -o jsonl` to its end. */
  upgrade(...args: string[]): Promise<SluiceExit>
  traffic(options?: Omit<TrafficOptions, 'url'>): Promise<Traffic>
  /** Returns the effective changes by server, in order, such as `{ 'web-0': ['drain', 'ready'] }`. */
  effects(): Record<string, string[]>
  /** Returns the requests of sluice in this namespace. */
  audit(filter?: AuditFilter): Promise<AuditEvent[]>
  stop(): Promise<void>
}

export async function startUpgradeBed(cluster: Cluster, options: UpgradeBedOptions): Promise<UpgradeBed> {
  const { name, app, count, port = appPort, peers } = options
  const { api } = cluster
  await api.apply(namespace(name), ...rightsIn(name), ...options.objects)
  const pods = (): Promise<KubeObject[]> => waitForPods(api, name, app, count, { timeoutMs: 120_000 })
  const serverOf = (at: number) => (pod: KubeObject) => ({ name: pod.metadata.name, address: `${pod.status.podIP}:${at}` })
  const servers = (await pods()).map(serverOf(port))
  if (peers) servers.push(...(await waitForPods(api, name, peers.app, peers.count)).map(serverOf(appPort)))
  const haproxy = await startHaproxy(cluster, { servers, ...options.haproxy })
  const runner = await cluster.kubeconfigFor({ user: RUNNER })
  const dir = join(cluster.info.dir, `bed-${name}`)
  await mkdir(dir, { recursive: true })
  const configFile = join(dir, 'sluice.yaml')
  const edge = { name: 'edge', adapter: 'haproxy', port, options: { socket: haproxy.recorder.socket, backend: 'web' } }
  await writeFile(
    configFile,
    stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [edge], ...options.config }),
  )
  const running = new Set<ChildProcess>()

  function start([verb, ...args]: string[], { jsonl = true } = {}): SluiceProcess {
    const config = NEEDS_CONFIG.has(verb!) ? ['--config', configFile] : []
    const usual = ['-n', name, ...config, '--kubeconfig', runner, ...(jsonl ? ['-o', 'jsonl'] : [])]
    // The last value of a repeated flag counts: the one of the test.
    const all = [SLUICE, verb!, ...usual, ...args]
    const child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    return follow(child, jsonl, () => running.delete(child))
  }

  return {
    namespace: name,
    haproxy,
    cluster,
    configFile,
    pods,
    start,
    upgrade: (...args) => start(['upgrade', ...args]).exit,
    traffic: (traffic) => startTraffic(cluster, { url: haproxy.url, ...traffic }),
    effects() {
      const byServer: Record<string, string[]> = {}
      for (const { server, kind, effective } of haproxy.recorder.effects()) {
        if (effective) (byServer[server] ??= []).push(kind)
      }
      return byServer
    },
    audit: (filter) => cluster.audit({ user: RUNNER, namespace: name, ...filter }),
    async stop() {
      for (const child of running) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await haproxy.stop()
      await removeNamespace(api, name)
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Returns the objects that `sluice rbac --user` prints. */
function rightsIn(name: string): KubeObject[] {
  const subject = { kind: 'User', name: RUNNER } as const
  const text = rbacManifest({ workloads: [], namespace: name, subject, orders: true, loadBalancers: [], locks: [] })
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject)
}

function follow(child: ChildProcess, jsonl: boolean, onExit: () => void): SluiceProcess {
  const events: RunEvent[] = []
  const watchers = new Set<() => void>()
  let stdout = ''
  let stderr = ''
  let rest = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    if (!jsonl) return
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') events.push(JSON.parse(line) as RunEvent)
    for (const look of watchers) look()
  })
  const exit = new Promise<SluiceExit>((resolve) => {
    child.once('close', (code, signal) => {
      onExit()
      const finished = events.findLast((event) => event.type === 'finished')
      const ended = finished?.type === 'finished' ? finished.result : undefined
      for (const { proof } of ended?.pods ?? []) if (proof !== undefined) tally({ proof })
      resolve({ code, signal, stdout, stderr, events, result: ended })
      for (const look of watchers) look()
    })
  })
  return {
    child,
    events: () => events,
    exit,
    seen: (like) =>
      new Promise((resolve, reject) => {
        function look(): void {
          const found = events.find((event) => like(event))
          if (!found && child.exitCode === null && child.signalCode === null) return
          watchers.delete(look)
          if (found) resolve(found)
          else
            reject(new Error(`sluice ended (${child.exitCode ?? child.signalCode}) before the event came:\n${stdout}\n${stderr}`))
        }
        watchers.add(look)
        look()
      }),
  }
}
