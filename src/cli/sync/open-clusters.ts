import type { KubeClient } from '../../kube/client.ts'
import { connect } from '../../kube/connect.ts'
import { systemRandom } from '../../ports/system.ts'
import type { ClusterWay, SyncConfig } from '../../sync/config/sync-config.ts'
import type { SourceCluster } from '../../sync/sync-run.ts'
import { inert } from '../output/inert.ts'
import type { Terminal } from '../terminal.ts'
import { sluiceVersion } from '../version.ts'

/** The clusters of a config. */
export interface SyncClusters {
  access: KubeClient
  /** The namespace of the context of the access cluster, or of the pod. */
  namespace: string
  sources: readonly SourceCluster[]
  /** Closes all connections. */
  close(): Promise<void>
}

/** No kubeconfig, so that the service account of the pod is used. */
const NO_KUBECONFIG = '/dev/null'

/** Connects to the access cluster. Sources are connected by the sync itself, which tries again. Rejects with a KubeConfigError. */
export async function openSyncClusters(
  { access, sources }: SyncConfig,
  requestTimeoutMs: number | undefined,
  { clock, env, err }: Pick<Terminal, 'clock' | 'env' | 'err'>,
): Promise<SyncClusters> {
  const closing: (() => Promise<void>)[] = []

  async function open(way: ClusterWay) {
    const connection = await connect({
      ...(way.is === 'in-cluster'
        ? { surroundings: { env: { ...env, KUBECONFIG: NO_KUBECONFIG } } }
        : { kubeconfig: way.kubeconfig, context: way.context }),
      ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
      clock,
      random: systemRandom,
      userAgent: `sluice-sync/${sluiceVersion()}`,
      onWaiting: (what) => err.write(`${inert(what)}\n`),
    })
    closing.push(() => connection.close())
    return connection
  }

  const { client, namespace } = await open(access)
  return {
    access: client,
    namespace,
    sources: sources.map(({ name, way }) => ({ name, connect: async () => (await open(way)).client })),
    close: async () => void (await Promise.all(closing.map((close) => close()))),
  }
}
