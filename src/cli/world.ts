import type { Config } from '../config/config.ts'
import type { Cluster } from '../library/cluster.ts'
import { loadConfig } from '../config/load-config.ts'
import { createSluice, type Sluice } from '../library/create-sluice.ts'
import type { SluiceOptions } from '../library/options.ts'
import { processIdentity } from '../library/process-identity.ts'
import { orderGiver } from './actions/order-giver.ts'
import type { ClusterFlags } from './arguments/flags.ts'
import { inert } from './output/inert.ts'
import type { Terminal } from './terminal.ts'
import { sluiceVersion } from './version.ts'

/** Shows a line without tearing apart the text on the screen. */
export type Notice = (line: string) => void

/** Returns the path of `--config`, else $SLUICE_CONFIG, else ./sluice.yaml. */
export function configPath(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  return flag ?? (env['SLUICE_CONFIG'] || 'sluice.yaml')
}

export async function openCluster(
  flags: ClusterFlags,
  requestTimeoutMs: number | undefined,
  { err, hasStdin }: Pick<Terminal, 'err' | 'hasStdin'>,
  notice: Notice = (line) => err.write(`${inert(line)}\n`),
): Promise<Cluster> {
  const { connect } = await import('../library/connect.ts')
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
    onWaiting: (what) => err.write(`${inert(what)}\n`),
    pluginTerminal: { isAttended: err.isTerminal, hasStdin, write: err.write, notice },
  })
}

/** Creates a sluice for at most one run. `config` was checked already, or is read when it is needed. */
export function sluiceOf(cluster: Cluster, terminal: Pick<Terminal, 'clock' | 'env'>, config?: SluiceOptions['config']): Sluice {
  return createSluice({
    cluster,
    ...(config === undefined ? {} : { config }),
    // A process has one run, so a command lists only the objects of its request.
    watch: 'request',
    identity: processIdentity(),
    by: orderGiver(terminal.env),
    clock: terminal.clock,
  })
}

/** Reads and checks a config file. */
export function readConfig(file: string): Promise<Config> {
  return loadConfig(file)
}

/** Opens sluice. The config is checked first: the check is cheap, and the user must mend its mistakes before anything else. */
export async function openSluice(
  flags: ClusterFlags,
  configFile: string,
  requestTimeoutMs: number | undefined,
  terminal: Pick<Terminal, 'err' | 'hasStdin' | 'clock' | 'env'>,
  notice?: Notice,
): Promise<Sluice> {
  const config = await loadConfig(configFile)
  return sluiceOf(await openCluster(flags, requestTimeoutMs, terminal, notice), terminal, config)
}
