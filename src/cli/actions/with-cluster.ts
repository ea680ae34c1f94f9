import type { ClusterFlags } from '../arguments/flags.ts'
import type { Cluster } from '../../library/cluster.ts'
import type { Sluice } from '../../library/create-sluice.ts'
import type { SluiceOptions } from '../../library/options.ts'
import { createLogger } from '../log.ts'
import { logRequests } from '../log-requests.ts'
import type { Terminal } from '../terminal.ts'

/** Runs work that needs the cluster alone. With -v, each of its requests is logged. */
export async function withCluster<Result>(
  flags: ClusterFlags & { verbose?: boolean },
  requestTimeoutMs: number | undefined,
  terminal: Terminal,
  work: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  const logger = await createLogger(flags.verbose === true, terminal)
  const { openCluster } = await import('../world.ts')
  const cluster = await openCluster(flags, requestTimeoutMs, terminal)
  try {
    const client = logger === undefined ? cluster.client : logRequests(cluster.client, logger, terminal.clock)
    return await work({ ...cluster, client })
  } finally {
    // Closing aborts open requests at once, and waits for no answer.
    await cluster.close()
  }
}

/**
 * Runs work that uses the library. `config` is absent for work that needs no load balancer. With a config, `work` closes the connections
 * that it has opened.
 */
export async function withSluice<Result>(
  flags: ClusterFlags & { verbose?: boolean },
  requestTimeoutMs: number | undefined,
  terminal: Terminal,
  work: (sluice: Sluice) => Promise<Result>,
  config?: SluiceOptions['config'],
): Promise<Result> {
  return withCluster(flags, requestTimeoutMs, terminal, async (cluster) => {
    const { sluiceOf } = await import('../world.ts')
    return work(sluiceOf(cluster, terminal, config))
  })
}
