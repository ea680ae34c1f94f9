import { randomBytes } from 'node:crypto'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { processIdentity } from '../../library/process-identity.ts'
import { systemRandom } from '../../ports/system.ts'
import type { SyncEvent, SyncRun, SyncSnapshot } from '../../sync/sync-run.ts'
import type { SyncFlags } from '../arguments/flags.ts'
import { parseRequestTimeout } from '../arguments/request-timeout.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { failureOf } from '../failures.ts'
import { metricsAddress } from '../metrics/metrics-address.ts'
import { serveMetrics } from '../metrics/serve-metrics.ts'
import { inert } from '../output/inert.ts'
import { syncEventJson, syncEventLine } from '../output/sync-view.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { reportFailure } from '../report-failure.ts'
import { watchInterrupts } from '../run/interrupts.ts'
import { openSyncClusters } from '../sync/open-clusters.ts'

/** Runs the sync until a signal. Its end by a signal is the usual one. */
export async function syncAction(flags: SyncFlags, { terminal, invocation }: CommandContext): Promise<ExitCode> {
  const problems: string[] = []
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  const address = metricsAddress(flags, problems)
  if (flags.lease === false && flags.leaseNamespace !== undefined) problems.push('--no-lease excludes --lease-namespace')
  if (problems.length > 0) throw new UsageError(problems)
  const { loadSyncConfig } = await import('../../sync/config/load-sync-config.ts')
  const config = await loadSyncConfig(flags.config)

  const write = writingFor({ flags: {}, invocation }, terminal.env)
  const say = (line: string): void => terminal.err.write(`${inert(line)}\n`)
  const stopping = new AbortController()
  const interrupts = watchInterrupts({
    events: terminal.events,
    now: () => terminal.clock.now(),
    exit: (code) => terminal.exit(code),
  })
  interrupts.stopInOrder((cause) => {
    if ('bug' in cause) reportFailure(failureOf(cause.bug, { touched: true }), { verbose: true }, terminal)
    stopping.abort()
  })
  const clusters = await openSyncClusters(config, requestTimeoutMs, terminal)
  const { createSyncMetrics } = await import('../../telemetry/sync-metrics.ts')
  const { startSync } = await import('../../sync/start-sync.ts')
  let run: SyncRun | undefined
  const metrics = createSyncMetrics(() => run?.snapshot())
  const lineOf = flags.output === 'json' ? syncEventJson : syncEventLine

  function tell(event: SyncEvent): void {
    metrics.onEvent(event)
    // Writes are many: the metrics count them, and -v prints them.
    if (event.type === 'written' && flags.verbose !== true) return
    terminal.out.write(`${lineOf(event, terminal.clock.wallNow(), write)}\n`)
  }

  const server = address && (await serveMetrics(address, { metrics, notReady: () => notReadyBecause(run?.snapshot()) }, say))
  try {
    run = startSync({
      services: config.services,
      access: clusters.access,
      sources: clusters.sources,
      ...(flags.lease !== false && {
        lease: {
          namespace: flags.leaseNamespace ?? clusters.namespace,
          name: String(flags.lease),
          // Two containers in the network of one node have the same host name, and may have the same process id.
          identity: `${processIdentity()}_${randomBytes(4).toString('hex')}`,
        },
      }),
      // The slices stay those of this sync if it gets a Lease later.
      ...(flags.lease === false && { instance: `${clusters.namespace}/sluice-sync` }),
      clock: terminal.clock,
      random: systemRandom,
      signal: stopping.signal,
      onEvent: tell,
    })
    await run.ended
    return interrupts.cause !== undefined && 'bug' in interrupts.cause ? EXIT.failed : EXIT.done
  } finally {
    interrupts.dispose()
    await Promise.all([server?.close(), clusters.close()])
  }
}

/** The server is also ready where a cluster does not answer: Prometheus must scrape the metric that says so. */
function notReadyBecause(snapshot: SyncSnapshot | undefined): { code: string; [field: string]: unknown }[] {
  if (snapshot === undefined) return [{ code: 'starting' }]
  const { access, sources } = snapshot
  return [{ name: 'access', is: access.is }, ...sources]
    .filter(({ is }) => is === 'listing')
    .map(({ name }) => ({ code: 'cluster-not-listed', cluster: name }))
}
