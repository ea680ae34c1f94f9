import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EmbeddedCluster, type EmbeddedClusterOptions, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import type { Children } from '../processes/children.ts'
import { freePort } from '../processes/free-port.ts'
import { type Api, createApi } from './api.ts'
import { WORKLOAD, imageOf, manifests } from './manifests.ts'
import { type Endpoint, createProcessHost } from './process-host.ts'

/** The embedded cluster with a workload, whose pods are processes of this machine. */
export interface DemoCluster {
  api: Api
  /** The events of nodes and controllers. */
  embedded: EmbeddedCluster
  kubeconfig: string
  /** The pods, in the order in which a StatefulSet is upgraded: the highest first. */
  pods: readonly string[]
  /** The port in the spec of the pods. `endpointOf` is the address that a pod listens at. */
  port: number
  endpointOf(pod: string): Endpoint
  /** Silences the node for a while. Its pods continue to serve. Resolves when its kubelet reports again. */
  delayHeartbeat(): Promise<void>
}

export interface StartClusterOptions {
  pods: number
  folder: string
  /** The time that a container runs on before it is told to end. The default is 0. */
  stopSeconds?: number
  /** The options of the cluster that differ from the defaults. */
  embedded?: Pick<EmbeddedClusterOptions, 'behaviour' | 'servesEndpoints' | 'managesFields' | 'heartbeatMs'>
}

/** The time from the start of a container until it answers. */
const START_MS = 1_000
/** A short value in place of the default of 50 s: the demo takes a minute. */
const NODE_MONITOR_GRACE_PERIOD_MS = 1_000
/** The grace period, one interval of the node controller, and one period of the aggregation that would see the silence. */
const SILENT_MS = NODE_MONITOR_GRACE_PERIOD_MS + 3_500
const IMAGES = 4
export const NODE = 'node-0'

/** On Linux, all of 127.0.0.0/8 is this machine. On other systems, the pods share one address, and listen on ports of their own. */
export const hasAddressPerPod = process.platform === 'linux'

/** Resolves when the pods have been created. The pods are not ready then. */
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
