/** The connection to the cluster of the Service. Only the options select it, independent of the cluster of the pods. */
import { resolve } from 'node:path'
import { resolveClusterAccess } from '../../src/kube/cluster-access.ts'
import { connect, type Connection, KubeConfigError } from '../../src/kube/connect.ts'
import { inClusterConfig } from '../../src/kube/in-cluster.ts'
import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { AdapterError } from '../contract.ts'
import type { EndpointsliceOptions } from './options.ts'

export interface Cluster {
  /** The URL of the API server. Undefined if the options lead to none; `connection` then gives the reason. */
  server: string | undefined
  /** Reads files and gets credentials. Opens no connection yet. */
  connection(): Promise<Connection>
  close(): Promise<void>
}

export interface ClusterOptions extends Pick<EndpointsliceOptions, 'kubeconfig' | 'context' | 'inCluster'> {
  component: string
  folder: string
}

/** An environment for the service account of the pod, without a kubeconfig. */
function ofThePod(env: NodeJS.ProcessEnv): { env: NodeJS.ProcessEnv; home: string } {
  const { KUBECONFIG: _, ...others } = env
  return { env: others, home: '/dev/null' }
}

export function createCluster({ component, folder, kubeconfig, context, inCluster }: ClusterOptions): Cluster {
  const failed = (kind: 'fatal' | 'retryable', cause: unknown): AdapterError =>
    new AdapterError(component, kind, cause instanceof Error ? cause.message : String(cause), { cause })

  const access = { kubeconfig: kubeconfig && resolve(folder, kubeconfig), context }
  const surroundings = inCluster === undefined ? {} : ofThePod(process.env)

  function read(): string {
    if (inCluster !== undefined && inClusterConfig(process.env) === undefined)
      throw failed('fatal', 'inCluster: sluice is in no pod with a service account here: name kubeconfig or context in its place')
    try {
      return resolveClusterAccess(access, surroundings).server
    } catch (error) {
      throw error instanceof KubeConfigError ? failed('fatal', error) : error
    }
  }

  function known(): string | undefined {
    try {
      return read()
    } catch (error) {
      if (error instanceof AdapterError) return undefined
      throw error
    }
  }

  async function open(): Promise<Connection> {
    read()
    try {
      return await connect({ ...access, clock: systemClock, random: systemRandom, surroundings })
    } catch (error) {
      // A missing credential plugin or token may exist a moment later.
      throw error instanceof KubeConfigError ? failed('retryable', error) : error
    }
  }

  let opening: Promise<Connection> | undefined
  let opened: Connection | undefined
  let isClosed = false
  async function openOnce(): Promise<Connection> {
    const own = await open()
    // The credential plugin may take longer than the lifetime of the adapter.
    if (isClosed) await own.close()
    return (opened = own)
  }

  return {
    server: known(),
    connection() {
      const own = (opening ??= openOnce())
      own.catch(() => {
        if (opening === own) opening = undefined
      })
      return own
    },
    async close() {
      isClosed = true
      await opened?.close()
    },
  }
}
