import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { createApiServer } from '../api-server/api-server.ts'
import type { CustomResource } from '../api-server/kinds.ts'
import type { ApiServer } from '../api-server/server.ts'
import { type ClusterOptions, createCluster, type SimulatedCluster } from '../cluster.ts'
import { keepNodeLeases } from '../node-leases.ts'
import { recordNodeEvents } from '../node-events.ts'
import { serveApi, type ServedApi } from './serve-api.ts'

export interface EmbeddedClusterOptions extends Omit<ClusterOptions, 'clock' | 'random' | 'apiServer'> {
  /** The port of the API server on 127.0.0.1; a free port unless given. */
  port?: number
  customResources?: readonly CustomResource[]
  /** Serves Endpoints beside EndpointSlices. `behaviour.endpointsPerSecond` adds a controller for them. */
  servesEndpoints?: boolean
  /** Keeps the writer of each field in the objects. Each client has the name that it gives itself. */
  managesFields?: boolean
  /** The interval in which each node renews its Lease while its kubelet reports. Without it there are no Leases. */
  heartbeatMs?: number
}

export interface EmbeddedCluster extends SimulatedCluster, ServedApi {
  readonly apiServer: ApiServer
}

/** Starts the embedded cluster in real time, for clients in other processes. `serveApi` describes the access to it. */
export async function startEmbeddedCluster({
  port,
  customResources = [],
  servesEndpoints = false,
  managesFields = false,
  heartbeatMs,
  ...options
}: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const ports = { clock: systemClock, random: systemRandom }
  // A client that writes much faster than it reads should not be told at once that its watch is too old.
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
