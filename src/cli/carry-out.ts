import type { CommandContext } from './commands/context.ts'
import type { ExitCode } from './exit-codes.ts'
import type { UpgradeFlags } from './flags.ts'
import { parseTogether } from './parse-together.ts'
import { parseReportFiles } from './report-files.ts'
import type { ParsedRequest } from './request.ts'

/** Plans or runs what was asked for. The engine is loaded here, once the command line is understood. */
export async function carryOut(
  parse: () => ParsedRequest,
  flags: UpgradeFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const [request, reportFiles] = parseTogether(parse, () => parseReportFiles(flags.report, flags))
  const { configPath, openWorld } = await import('./world.ts')
  const { prepareRun } = await import('../engine/run.ts')
  const deps = {
    terminal,
    openWorld: () => openWorld(flags, configPath(flags.config, terminal.env), request.requestTimeoutMs, terminal),
    prepareRun,
  }
  if (flags.dryRun === true) {
    const { runPlan } = await import('./run-plan.ts')
    return runPlan({ request, flags, invocation }, deps)
  }
  const { runUpgrade } = await import('./run-upgrade.ts')
  return runUpgrade({ request, flags, invocation, reportFiles }, deps)
}
