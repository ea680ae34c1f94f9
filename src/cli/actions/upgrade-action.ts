import { carryOut } from './carry-out.ts'
import type { CommandContext } from '../commands/context.ts'
import type { ExitCode } from '../../library/exit-codes.ts'
import type { UpgradeFlags } from '../arguments/flags.ts'
import { parseRequest } from '../arguments/request.ts'

/** The command line is parsed before the engine is loaded, so that a mistake is reported without a delay of half a second. */
export async function upgradeAction(args: readonly string[], flags: UpgradeFlags, context: CommandContext): Promise<ExitCode> {
  return carryOut(() => parseRequest(args, flags), flags, context)
}
