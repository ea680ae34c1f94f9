import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { createApiServer } from '../api-server/api-server.ts'
import type { CustomResource } from '../api-server/kinds.ts'
import type { ApiServer } from '../api-server/server.ts'
import { type ClusterOptions, createCluster, type SimulatedCluster } from '../cluster.ts'
import { keepNodeLeases } from '../node-leases.ts'
import { recordNodeEvents } from '../node-events.ts'
import { serveApi, type ServedApi } from './serve-api.ts'

export interface EmbeddedClusterOptions extends Omit<ClusterOptions, 'clock' | 'random' | 'apiServer'> {
  /** Of the API server, on 127.0.0.1; a free one unless given. */
  port?: number
  customResources?: readonly CustomResource[]
  /** Endpoints are served beside EndpointSlices. With `behaviour.endpointsPerSecond` there is a controller for them. */
  servesEndpoints?: boolean
  /** Objects say who has written each field; each client goes by the name that it gives itself. */
  managesFields?: boolean
  /** Each node has a Lease, renewed so often while its kubelet reports. */
  heartbeatMs?: number
}

export interface EmbeddedCluster extends SimulatedCluster, ServedApi {
  readonly apiServer: ApiServer
}

/** The embedded cluster in real time, for clients of their own processes: see serveApi for who can reach it. */
export async function startEmbeddedCluster({
  port,
  customResources = [],
  servesEndpoints = false,
  managesFields = false,
  heartbeatMs,
  ...options
}: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const ports = { clock: systemClock, random: systemRandom }
  // A client that writes much faster than it reads is not to be told at once that its watch is too old.
  const apiServer = createApiServer({ ...ports, watchWindow: 20_000, customResources, servesEndpoints, managesFields })
  const cluster = createCluster({ ...ports, ...options, apiServer })
  recordNodeEvents(cluster, apiServer.store, systemClock)
  const served = await serveApi({
    apiServer,
    clock: systemClock,
    namesClients: managesFields,
    ...(port === undefined ? {} : { port }),
  })
  const { store } = apiServer
  const { nodes, isAlive } = cluster
  const stopLeases =
    heartbeatMs === undefined ? () => {} : keepNodeLeases({ store, clock: systemClock, nodes, isAlive, everyMs: heartbeatMs })
  return {
    ...cluster,
    ...served,
    apiServer,
    async close() {
      stopLeases()
      await served.close()
    },
  }
}
