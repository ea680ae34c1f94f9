import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { createApiServer } from '../api-server/api-server.ts'
import type { CustomResource } from '../api-server/kinds.ts'
import type { ApiServer } from '../api-server/server.ts'
import { type ClusterOptions, createCluster, type SimulatedCluster } from '../cluster.ts'
import { recordNodeEvents } from '../node-events.ts'
import { serveApi, type ServedApi } from './serve-api.ts'

export interface EmbeddedClusterOptions extends Omit<ClusterOptions, 'clock' | 'random' | 'apiServer'> {
  /** Of the API server, on 127.0.0.1; a free one unless given. */
  port?: number
  customResources?: readonly CustomResource[]
}

export interface EmbeddedCluster extends SimulatedCluster, ServedApi {
  readonly apiServer: ApiServer
}

/** The embedded cluster in real time, for clients of their own processes: see serveApi for who can reach it. */
export async function startEmbeddedCluster({
  port,
  customResources = [],
  ...options
}: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const ports = { clock: systemClock, random: systemRandom }
  // A client that writes much faster than it reads is not to be told at once that its watch is too old.
  const apiServer = createApiServer({ ...ports, watchWindow: 20_000, customResources })
  const cluster = createCluster({ ...ports, ...options, apiServer })
  recordNodeEvents(cluster, apiServer.store, systemClock)
  const served = await serveApi({ apiServer, clock: systemClock, ...(port === undefined ? {} : { port }) })
  return { ...cluster, ...served, apiServer }
}
