import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EmbeddedCluster, type EmbeddedClusterOptions, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import type { Children } from '../processes/children.ts'
import { freePort } from '../processes/free-port.ts'
import { type Api, createApi } from './api.ts'
import { WORKLOAD, imageOf, manifests } from './manifests.ts'
import { type Endpoint, createProcessHost } from './process-host.ts'

/** The embedded cluster with a workload on it, whose pods are processes of this machine. */
export interface DemoCluster {
  api: Api
  /** What happens to nodes and controllers. */
  embedded: EmbeddedCluster
  kubeconfig: string
  /** In the order in which a StatefulSet is upgraded: the highest first. */
  pods: readonly string[]
  /** What their spec says; `endpointOf` is where they listen. */
  port: number
  endpointOf(pod: string): Endpoint
  /** The node is silent for a while; its pods serve on. Resolves when its kubelet reports again. */
  delayHeartbeat(): Promise<void>
}

export interface StartClusterOptions {
  pods: number
  folder: string
  /** A container goes on for so long before it is told to end; 0 unless given. */
  stopSeconds?: number
  /** What of the cluster is to be other than by default. */
  embedded?: Pick<EmbeddedClusterOptions, 'behaviour' | 'servesEndpoints' | 'managesFields' | 'heartbeatMs'>
}

/** From the start of a container until it answers. */
const START_MS = 1_000
/** In place of 50 s: the demo has a minute. */
const NODE_MONITOR_GRACE_PERIOD_MS = 1_000
/** The grace period, the node controller's look, and one period of the aggregation that would see it. */
const SILENT_MS = NODE_MONITOR_GRACE_PERIOD_MS + 3_500
const IMAGES = 4
export const NODE = 'node-0'

/** All of 127.0.0.0/8 is this machine on Linux; elsewhere pods share one address, and listen on ports of their own. */
export const hasAddressPerPod = process.platform === 'linux'

/** Resolves when the pods have been created; they are not ready yet. */
export async function startCluster(
  children: Children,
  { pods, folder, stopSeconds, embedded = {} }: StartClusterOptions,
): Promise<DemoCluster> {
  const port = await freePort()
  const names = Array.from({ length: pods }, (_, index) => `${WORKLOAD}-${pods - 1 - index}`)
  const endpointOf = (pod: string): Endpoint => {
    const ordinal = Number(pod.slice(WORKLOAD.length + 1))
    return hasAddressPerPod ? { host: `127.0.42.${ordinal + 1}`, port } : { host: '127.0.0.1', port: port + ordinal }
  }
  const images = Array.from({ length: IMAGES }, (_, index) => imageOf(index + 1))
  const cluster = await startEmbeddedCluster({
    host: createProcessHost({ children, endpointOf, startMs: START_MS }),
    images: Object.fromEntries(images.map((image, index) => [image, { digest: `sha256:${index + 1}` }])),
    ...embedded,
    behaviour: { nodeMonitorGracePeriodMs: NODE_MONITOR_GRACE_PERIOD_MS, ...embedded.behaviour },
  })
  const kubeconfig = join(folder, 'kubeconfig')
  await writeKubeconfig(kubeconfig, cluster.url)
  cluster.apply(...manifests(pods, port, stopSeconds))
  return {
    api: createApi(cluster.url),
    embedded: cluster,
    kubeconfig,
    pods: names,
    port,
    endpointOf,
    async delayHeartbeat() {
      cluster.stopKubelet(NODE)
      await sleep(SILENT_MS)
      cluster.continueKubelet(NODE)
    },
  }
}
