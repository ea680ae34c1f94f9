import type { CommandContext } from './commands/context.ts'
import type { ExitCode } from './exit-codes.ts'
import type { PlanFlags } from './flags.ts'
import { upgradeAction } from './upgrade-action.ts'

/** An upgrade that stops after the plan. */
export async function planAction(args: readonly string[], flags: PlanFlags, context: CommandContext): Promise<ExitCode> {
  return upgradeAction(args, { ...flags, dryRun: true, grace: '0s' }, context)
}
