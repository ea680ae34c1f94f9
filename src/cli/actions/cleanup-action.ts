import { writingFor } from '../printed-commands/writing.ts'
import type { CommandContext } from '../commands/context.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { CleanupFlags } from '../arguments/flags.ts'
import { cleanupDocument, cleanupLines } from '../output/cleanup-view.ts'
import { inertJson } from '../output/inert.ts'
import { withCluster } from './with-cluster.ts'
import { parseWorkloads } from '../arguments/workload-arguments.ts'

export async function cleanupAction(
  args: readonly string[],
  flags: CleanupFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const { refs, requestTimeoutMs } = parseWorkloads(args, flags)
  const { cleanUp } = await import('../../engine/ledgers/cleanup.ts')
  return withCluster(flags, requestTimeoutMs, terminal, async ({ client, namespace }) => {
    const write = writingFor({ flags, invocation }, terminal.env)
    const dryRun = flags.dryRun ?? false
    const report = await cleanUp({ namespace, refs, dryRun }, { client, clock: terminal.clock })
    if (flags.output === 'json') terminal.out.write(`${inertJson(cleanupDocument(namespace, dryRun, report, write), 2)}\n`)
    else for (const line of cleanupLines(dryRun, report, write)) terminal.out.write(`${line}\n`)
    return EXIT.done
  })
}
