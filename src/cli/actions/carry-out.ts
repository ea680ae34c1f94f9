import type { CommandContext } from '../commands/context.ts'
import type { ExitCode } from '../../library/exit-codes.ts'
import type { UpgradeFlags } from '../arguments/flags.ts'
import { parseTogether } from '../arguments/parse-together.ts'
import { parseReportFiles } from '../run/report-files.ts'
import type { UpgradeDeps } from '../run/run-upgrade.ts'
import type { ParsedRequest } from '../arguments/request.ts'

/** Plans or runs the request. The engine is loaded only after the command line has been parsed. */
export async function carryOut(
  parse: () => ParsedRequest,
  flags: UpgradeFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const [request, reportFiles] = parseTogether(parse, () => parseReportFiles(flags.report, flags))
  const { configPath, openSluice } = await import('../world.ts')
  const deps: UpgradeDeps = {
    terminal,
    openSluice: (notice) => openSluice(flags, configPath(flags.config, terminal.env), request.requestTimeoutMs, terminal, notice),
  }
  if (flags.dryRun === true) {
    const { runPlan } = await import('../run/run-plan.ts')
    return runPlan({ request, flags, invocation }, deps)
  }
  const { runUpgrade } = await import('../run/run-upgrade.ts')
  return runUpgrade({ request, flags, invocation, reportFiles }, deps)
}
