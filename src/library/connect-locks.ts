import { ConfigError } from '../config/config-error.ts'
import type { Config, ConfiguredLock } from '../config/config.ts'
import type { CreatedLoadBalancer } from '../config/create-load-balancers.ts'
import type { LoadBalancer } from '../engine/request.ts'
import type { KubeClient } from '../kube/client.ts'
import { connect, type Connection, KubeConfigError } from '../kube/connect.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Cluster } from './cluster.ts'

export interface ConnectedLocks {
  loadBalancers: LoadBalancer[]
  /** Closes the connections that were opened for the locks. */
  close(): Promise<void>
}

interface Surroundings {
  /** The cluster of the run. */
  cluster: Cluster
  clock: Clock
  random: Random
}

/**
 * The load balancers with a connection to the cluster of each lock; locks of one cluster share a connection. No request is sent yet.
 * @throws ConfigError if a lock names a cluster that no kubeconfig has
 */
export async function connectLocks(
  { file }: Config,
  created: readonly CreatedLoadBalancer[],
  { cluster, clock, random }: Surroundings,
): Promise<ConnectedLocks> {
  const opened = new Map<string, Connection>()

  async function clientFor({ kubeconfig, context, namespace }: ConfiguredLock): Promise<KubeClient> {
    if (kubeconfig === undefined && context === undefined) return cluster.client
    const where = { kubeconfig: kubeconfig ?? cluster.kubeconfig, context }
    const key = JSON.stringify(where)
    const connection = opened.get(key) ?? (await connect({ ...where, namespace, clock, random }))
    opened.set(key, connection)
    return connection.client
  }

  async function close(): Promise<void> {
    await Promise.allSettled(Array.from(opened.values(), (connection) => connection.close()))
  }

  const loadBalancers: LoadBalancer[] = []
  for (const [index, { lock, ...others }] of created.entries()) {
    try {
      const connected = lock && { client: await clientFor(lock), namespace: lock.namespace, document: lock.document }
      loadBalancers.push({ ...others, ...(connected && { lock: connected }) })
    } catch (error) {
      await close()
      if (!(error instanceof KubeConfigError)) throw error
      const path = `loadBalancers[${index}].lock`
      throw new ConfigError(file, [{ path, message: `cannot be used: ${error.message}`, line: 0, column: 0 }], { cause: error })
    }
  }
  return { loadBalancers, close }
}
