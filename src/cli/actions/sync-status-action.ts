import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { systemRandom } from '../../ports/system.ts'
import type { SyncRun } from '../../sync/sync-run.ts'
import { durationFlag } from '../arguments/duration-flag.ts'
import type { SyncStatusFlags } from '../arguments/flags.ts'
import { parseRequestTimeout } from '../arguments/request-timeout.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { createColors, useColor } from '../output/color.ts'
import { inertJson } from '../output/inert.ts'
import { isInOrder, syncStatusDocument, syncStatusLines } from '../output/sync-view.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { openSyncClusters } from '../sync/open-clusters.ts'
import type { Terminal } from '../terminal.ts'

const WITHIN_MS = 10_000
const LOOKS_EVERY_MS = 50

/** Reads all clusters of a config as a replica that never leads, and prints what it finds. */
export async function syncStatusAction(flags: SyncStatusFlags, { terminal, invocation }: CommandContext): Promise<ExitCode> {
  const problems: string[] = []
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  const withinMs = flags.within === undefined ? WITHIN_MS : durationFlag('--within', flags.within, 1, problems)
  if (flags.lease === undefined && flags.leaseNamespace !== undefined) problems.push('--lease-namespace needs --lease')
  if (problems.length > 0) throw new UsageError(problems)
  const { loadSyncConfig } = await import('../../sync/config/load-sync-config.ts')
  const config = await loadSyncConfig(flags.config)
  const write = writingFor({ flags: {}, invocation }, terminal.env)
  const clusters = await openSyncClusters(config, requestTimeoutMs, terminal)
  const { startSync } = await import('../../sync/start-sync.ts')
  const stopping = new AbortController()
  try {
    const run = startSync({
      services: config.services,
      access: clusters.access,
      sources: clusters.sources,
      isReader: true,
      ...(flags.lease !== undefined && { instance: `${flags.leaseNamespace ?? clusters.namespace}/${flags.lease}` }),
      clock: terminal.clock,
      random: systemRandom,
      signal: stopping.signal,
    })
    await settled(run, withinMs, terminal)
    const snapshot = run.snapshot()
    stopping.abort()
    await run.ended
    const colors = createColors(useColor(flags.color, terminal.env, terminal.out.isTerminal))
    if (flags.output === 'json') terminal.out.write(`${inertJson(syncStatusDocument(snapshot, write))}\n`)
    else for (const line of syncStatusLines(snapshot, colors, write)) terminal.out.write(`${line}\n`)
    return isInOrder(snapshot) ? EXIT.done : EXIT.failed
  } finally {
    stopping.abort()
    await clusters.close()
  }
}

/** Waits until all is known, and no decided write is missing, for so long at most. */
async function settled(run: SyncRun, withinMs: number, { clock }: Pick<Terminal, 'clock'>): Promise<void> {
  const endsAt = clock.now() + withinMs
  while (clock.now() < endsAt) {
    const { isSettled, services } = run.snapshot()
    if (isSettled && services.every(({ isPending }) => !isPending)) return
    await new Promise<void>((resolve) => clock.setTimeout(resolve, LOOKS_EVERY_MS))
  }
}
