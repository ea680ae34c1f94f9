import type { CommandContext } from './commands/context.ts'
import type { ExitCode } from './exit-codes.ts'
import type { UpgradeFlags } from './flags.ts'
import { parseRequest } from './request.ts'

/** The command line is understood before the engine is loaded: a mistake in it should not take half a second to tell. */
export async function upgradeAction(args: readonly string[], flags: UpgradeFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal, invocation } = context
  const request = parseRequest(args, flags)
  const { configPath, openWorld } = await import('./world.ts')
  const { prepareRun } = await import('../engine/run.ts')
  const deps = {
    terminal,
    openWorld: () => openWorld(flags, configPath(flags.config, terminal.env), request.requestTimeoutMs),
    prepareRun,
  }
  if (flags.dryRun === true) {
    const { runPlan } = await import('./run-plan.ts')
    return runPlan({ request, flags }, deps)
  }
  const { runUpgrade } = await import('./run-upgrade.ts')
  return runUpgrade({ request, flags, invocation }, deps)
}
