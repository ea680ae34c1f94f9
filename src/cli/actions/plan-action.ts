import { carryOut } from './carry-out.ts'
import type { CommandContext } from '../commands/context.ts'
import type { ExitCode } from '../../library/exit-codes.ts'
import type { PlanFlags } from '../arguments/flags.ts'
import { parseRequest } from '../arguments/request.ts'

/** Runs an upgrade that stops after the plan. */
export async function planAction(args: readonly string[], flags: PlanFlags, context: CommandContext): Promise<ExitCode> {
  return carryOut(() => parseRequest(args, flags, 'plan'), { ...flags, dryRun: true, grace: '0s' }, context)
}
