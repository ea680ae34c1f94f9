import { createLoadBalancers } from '../config/create-load-balancers.ts'
import { loadConfig } from '../config/load-config.ts'
import type { ConfigSettings } from '../config/config.ts'
import type { LoadBalancer } from '../engine/run.ts'
import { createScopeQueues, type ScopeQueues } from '../engine/traffic/scope-queues.ts'
import type { KubeClient } from '../kube/client.ts'
import { createObservation, type SharedObservation } from '../observation/observation.ts'
import { systemClock, systemRandom } from '../ports/system.ts'
import type { ClusterFlags } from './arguments/flags.ts'
import { inert } from './output/inert.ts'
import type { Terminal } from './terminal.ts'
import { sluiceVersion } from './version.ts'

/** A way to a cluster. */
export interface Cluster {
  client: KubeClient
  namespace: string
  close(): Promise<void>
}

/** Everything outside that a run needs. */
export interface World extends Cluster {
  observation: SharedObservation
  loadBalancers: LoadBalancer[]
  queues: ScopeQueues
  settings: ConfigSettings
}

/** Shows a line without tearing apart what is on the screen. */
export type Notice = (line: string) => void

/** `--config`, else $SLUICE_CONFIG, else ./sluice.yaml. */
export function configPath(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  return flag ?? (env['SLUICE_CONFIG'] || 'sluice.yaml')
}

export async function openCluster(
  flags: ClusterFlags,
  requestTimeoutMs: number | undefined,
  { err, hasStdin }: Pick<Terminal, 'err' | 'hasStdin'>,
  notice: Notice = (line) => err.write(`${inert(line)}\n`),
): Promise<Cluster> {
  const { connect } = await import('../kube/connect.ts')
  return connect({
    kubeconfig: flags.kubeconfig,
    context: flags.context,
    cluster: flags.cluster,
    user: flags.user,
    namespace: flags.namespace,
    as: flags.as,
    asGroups: flags.asGroup,
    asUid: flags.asUid,
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    userAgent: `sluice/${sluiceVersion()}`,
    clock: systemClock,
    random: systemRandom,
    onWaiting: (what) => err.write(`${inert(what)}\n`),
    pluginTerminal: { isAttended: err.isTerminal, hasStdin, write: err.write, notice },
  })
}

/** The config is checked first: it costs nothing, and its mistakes are the user's to mend before anything else. */
export async function openWorld(
  flags: ClusterFlags,
  configFile: string,
  requestTimeoutMs: number | undefined,
  terminal: Pick<Terminal, 'err' | 'hasStdin'>,
  notice?: Notice,
): Promise<World> {
  const config = await loadConfig(configFile)
  const cluster = await openCluster(flags, requestTimeoutMs, terminal, notice)
  const loadBalancers = createLoadBalancers(config)
  return {
    client: cluster.client,
    namespace: cluster.namespace,
    // One run a process: a command lists no more than it is asked about.
    observation: createObservation({ client: cluster.client, clock: systemClock, random: systemRandom, scope: 'request' }),
    loadBalancers,
    queues: createScopeQueues(systemClock),
    settings: config.settings,
    close: async () => {
      await Promise.allSettled(loadBalancers.map(({ adapter }) => adapter.close()))
      await cluster.close()
    },
  }
}
