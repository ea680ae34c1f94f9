import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { startHaproxy } from '../../adapters/conformance/beds/haproxy-process.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import type { Delays } from '../../sim/kubelet/delays.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import type { RunResult } from '../../src/engine/events.ts'
import { type LoggedEffect, startEffectLog } from './effect-log.ts'
import { runMeasured, type Usage } from './usage.ts'

/** Many pods of one StatefulSet in the embedded cluster, behind a real HAProxy without requests. */
export interface ScaleBed {
  readonly cluster: EmbeddedCluster
  readonly kubeconfig: string
  readonly configFile: string
  pods(): Pod[]
  /** Runs `sluice upgrade` as a process of its own. `script` is sluice, from its source or built. */
  upgrade(script: string, options: { image: string; maxUnavailable: number }): Promise<ScaleRun>
  stop(): Promise<void>
}

export interface ScaleRun extends Usage {
  result: RunResult
  effects: LoggedEffect[]
  /** The numbers of stored PATCHes of pods, and of dry runs. */
  patches: { stored: number; dryRun: number }
  /** The time of each pod from its new image in the API until it was Ready with it, in the order of the patches. */
  ownMs: number[]
}

const SET = 'statefulset/web'
const PODS_A_NODE = 50
const PORT = 8080

export interface ScaleBedOptions {
  pods: number
  /** The time from the start of a container until it answers correctly. */
  readyAfterMs: number
  /** Delays in place of the measured ones. */
  delays?: Partial<Delays>
}

export async function startScaleBed({ pods: count, readyAfterMs, delays = {} }: ScaleBedOptions): Promise<ScaleBed> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-scale-'))
  const image = (digest: string) => ({ digest, readyAfterMs })
  const cluster = await startEmbeddedCluster({
    nodes: Math.ceil(count / PODS_A_NODE),
    images: Object.fromEntries(['v1', 'v2', 'v3', 'v4'].map((tag) => [`app:${tag}`, image(`sha256:${tag}`)])),
    behaviour: { delays },
  })
  const { store } = cluster.apiServer
  const pods = (): Pod[] => store.list('pods', 'default') as Pod[]
  cluster.apply(statefulSet(count))
  await until(`${count} ready pods`, () => pods().length === count && pods().every(isReady))

  const endpoints = pods().map(({ metadata, status }) => ({
    uid: metadata.uid,
    pod: metadata.name,
    address: status!.podIP!,
    port: PORT,
  }))
  const haproxy = await startHaproxy({ endpoints, checked: 0 })
  const socket = join(folder, 'haproxy.sock')
  const log = await startEffectLog(haproxy.adminSocket, socket)
  const kubeconfig = join(folder, 'kubeconfig')
  const configFile = join(folder, 'sluice.yaml')
  await writeKubeconfig(kubeconfig, cluster.url)
  const edge = { name: 'edge', adapter: 'haproxy', port: PORT, options: { socket, backend: 'web' } }
  await writeFile(configFile, stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [edge] }))

  const patches = { stored: 0, dryRun: 0 }
  cluster.apiServer.admit(({ operation, object, dryRun }) => {
    if (operation === 'UPDATE' && object.kind === 'Pod') patches[dryRun ? 'dryRun' : 'stored']++
    return undefined
  })
  const own = new Map<string, { patchedAt: number; container: string; readyAt?: number }>()
  store.subscribe((resource, { before, after }) => {
    if (resource !== 'pods' || before === undefined || after === undefined) return
    const [was, is] = [before as Pod, after as Pod]
    const { uid } = is.metadata
    const seen = own.get(uid)
    if (imageOf(was) !== imageOf(is)) own.set(uid, { patchedAt: performance.now(), container: containerOf(is) })
    else if (seen !== undefined && seen.readyAt === undefined && isReady(is) && containerOf(is) !== seen.container) {
      seen.readyAt = performance.now()
    }
  })

  return {
    cluster,
    kubeconfig,
    configFile,
    pods,
    async upgrade(script, { image: wanted, maxUnavailable }) {
      own.clear()
      Object.assign(patches, { stored: 0, dryRun: 0 })
      const effectsBefore = log.effects.length
      const where = ['--config', configFile, '--kubeconfig', kubeconfig]
      const args = [script, 'upgrade', SET, `app=${wanted}`, '--max-unavailable', String(maxUnavailable), ...where, '-o', 'json']
      const usage = await runMeasured(args)
      return {
        ...usage,
        result: JSON.parse(usage.stdout) as RunResult,
        effects: log.effects.slice(effectsBefore),
        patches: { ...patches },
        ownMs: [...own.values()].map(({ patchedAt, readyAt = NaN }) => readyAt - patchedAt),
      }
    },
    async stop() {
      log.stop()
      await haproxy.stop()
      await cluster.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function imageOf({ spec }: Pod): string {
  return spec.containers[0]!.image
}

function containerOf({ status }: Pod): string {
  return status?.containerStatuses?.[0]?.containerID ?? ''
}

function statefulSet(replicas: number) {
  const labels = { app: 'web' }
  const container = { name: 'app', image: 'app:v1', ports: [{ containerPort: PORT }], readinessProbe: { periodSeconds: 1 } }
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web' },
    spec: {
      replicas,
      serviceName: 'web',
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  }
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + 120_000
  while (!condition()) {
    if (performance.now() > giveUpAt) throw new Error(`waited in vain for ${what}`)
    await sleep(50)
  }
}
