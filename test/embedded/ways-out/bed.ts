import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { serversApi } from '../../../adapters/http/testing/servers-api.ts'
import { createLoadBalancer, type LoadBalancer } from '../../../demo/load-balancer/load-balancer.ts'
import type { Manifest } from '../../../sim/cluster.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../../sim/kubelet/pod.ts'
import { runCommandLine } from '../../../src/cli/main.ts'
import { createFakeTerminal, type FakeTerminal } from '../../../src/cli/testing/fake-terminal.ts'
import { systemClock } from '../../../src/ports/system.ts'
import { ensureKubectl } from '../../cluster/binaries.ts'
import { runCommand } from '../../cluster/run-command.ts'
import { onPath } from '../../cluster/support.ts'

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

export interface Started {
  terminal: FakeTerminal
  ended: Promise<Ended>
}

/** A small cluster with a load balancer before its pods, for typed commands of sluice and kubectl. */
export interface Bed {
  cluster: EmbeddedCluster
  edge(): LoadBalancer
  pods(): Pod[]
  pod(name: string): Pod
  /** Waits until there are `count` pods, and all of them are ready. */
  ready(count: number): Promise<void>
  until(isSo: () => boolean): Promise<void>
  /** Waits until the StatefulSet's controller has seen its template. */
  observed(): Promise<void>
  /** Puts a load balancer before the pods of these names, by default all, and adds it to the config. `id` is the CEL of an entry's ID. */
  balance(options?: { names?: readonly string[]; as?: string; id?: string; settle?: string }): Promise<void>
  /** Stops the load balancer until the next `balance`. */
  stopBalancer(): Promise<void>
  setState(server: string, state: 'ready' | 'drain' | 'maint'): Promise<void>
  /** Returns the words of a command, with the flags for the cluster and the config. */
  wordsOf(...args: string[]): string[]
  /** Starts a command as on a terminal whose environment names the cluster and the config. */
  start(...args: string[]): Started
  sluice(...args: string[]): Promise<Ended>
  /** Runs a line as pasted into a shell without such an environment. `more` is typed behind the line. */
  paste(line: string, ...more: string[]): Promise<Ended>
  close(): Promise<void>
}

const PORT = 80
const TAGS = ['v1', 'v2', 'v3']
/** The commands that have `--config`. */
const CONFIGURED = new Set(['plan', 'upgrade', 'undo', 'abort'])

export async function openBed(): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ways-out-'))
  const cluster = await startEmbeddedCluster({
    nodes: 1,
    images: {
      ...Object.fromEntries(
        TAGS.flatMap((tag) => ['app', 'proxy'].map((name) => [`${name}:${tag}`, { digest: `${name}-${tag}` }])),
      ),
      'app:slow': { digest: 'app-slow', readyAfterMs: 3_600_000 },
      'app:far': { digest: 'app-far', pull: { ms: 3_600_000 } },
    },
  })
  const kubeconfig = join(folder, 'kubeconfig')
  const config = join(folder, 'sluice.yaml')
  await writeKubeconfig(kubeconfig, cluster.url)
  let edge: LoadBalancer | undefined
  const pods = (): Pod[] => cluster.apiServer.store.list('pods', 'default') as Pod[]

  async function until(isSo: () => boolean): Promise<void> {
    await vi.waitUntil(isSo, { timeout: 60_000, interval: 20 })
  }

  function wordsOf(...args: string[]): string[] {
    const [verb = ''] = args
    return [...args, '--kubeconfig', kubeconfig, ...(CONFIGURED.has(verb) ? ['--config', config] : [])]
  }

  function start(...args: string[]): Started {
    return startWords(wordsOf(...args))
  }

  function startWords(words: readonly string[]): Started {
    const terminal: FakeTerminal = { ...createFakeTerminal(), clock: systemClock }
    const ended = runCommandLine(['node', 'sluice', ...words], terminal).then(({ code }) => ({
      code,
      stdout: terminal.written.out,
      stderr: terminal.written.err,
    }))
    return { terminal, ended }
  }

  return {
    cluster,
    edge: () => edge!,
    pods,
    pod: (name) => pods().find(({ metadata }) => metadata.name === name)!,
    until,
    ready: (count) => until(() => pods().length === count && pods().every(isReady)),
    observed: () =>
      until(() => {
        const { metadata, status } = cluster.apiServer.store.get('statefulsets.apps', 'default', 'web')!
        return (status as { observedGeneration?: number } | undefined)?.observedGeneration === metadata.generation
      }),
    async balance({ names, as = 'edge', id = 'entry.name', settle } = {}) {
      await edge?.close()
      const behind = pods().filter(({ metadata: { name } }) => names === undefined || names.includes(name))
      const servers = behind.map(({ metadata: { name }, status }) => ({ name, address: `${status!.podIP!}:${PORT}` }))
      edge = await createLoadBalancer({ servers })
      const api = serversApi(edge.adminUrl)
      const options = { ...api, targets: { ...(api['targets'] as object), id } }
      const loadBalancers = [{ name: as, adapter: 'http', port: PORT, options }]
      writeFileSync(
        config,
        JSON.stringify({
          apiVersion: 'sluice.dev/v1',
          kind: 'Config',
          loadBalancers,
          ...(settle === undefined ? {} : { drain: { settle } }),
        }),
      )
    },
    async stopBalancer() {
      await edge?.close()
      edge = undefined
    },
    async setState(server, state) {
      const body = JSON.stringify({ state })
      const headers = { 'content-type': 'application/json' }
      await fetch(`${edge!.adminUrl}/servers/${server}`, { method: 'PUT', headers, body })
    },
    wordsOf,
    start,
    sluice: (...args) => start(...args).ended,
    async paste(line, ...more) {
      const typed = [line.replace(/ +#.*$/, ''), ...more].join(' ')
      if (typed.startsWith('kubectl '))
        return inShell(`kubectl() { ${onPath('kubectl') ? 'command kubectl' : await ensureKubectl()} "$@"; }\n${typed}`)
      const { code, stdout, stderr } = await inShell(`sluice() { printf '%s\\0' "$@"; }\n${typed}`)
      if (code !== 0) throw new Error(`the shell does not take ${typed}: ${stderr}`)
      return startWords(stdout.split('\0').slice(0, -1)).ended
    },
    async close() {
      await edge?.close()
      await cluster.close()
      rmSync(folder, { recursive: true })
    },
  }

  function inShell(script: string): Promise<Ended> {
    const { PATH } = process.env
    return runCommand('sh', ['-c', script], { cwd: folder, env: { PATH, HOME: folder }, allowFailure: true })
  }
}

export const CONTAINER = { name: 'app', image: 'app:v1', ports: [{ containerPort: PORT }], readinessProbe: { periodSeconds: 1 } }
const labels = { app: 'web' }

export function podTemplate(containers: object[] = [CONTAINER], more: object = {}): object {
  return { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers, ...more } }
}

export function statefulSet({ replicas = 1, template = podTemplate(), strategy = 'OnDelete' } = {}): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web' },
    spec: {
      replicas,
      serviceName: 'web',
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: strategy },
      selector: { matchLabels: labels },
      template,
    },
  }
}

export function deployment(more: object = {}): Manifest {
  const spec = { replicas: 1, selector: { matchLabels: labels }, template: podTemplate(), ...more }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec }
}

export function barePod({
  name = 'web',
  image = 'app:v1',
  restartPolicy = 'Always',
  ownerReferences = [] as object[],
} = {}): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels, ownerReferences },
    spec: { terminationGracePeriodSeconds: 0, restartPolicy, containers: [{ ...CONTAINER, image }] },
  }
}
