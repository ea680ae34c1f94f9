import { carryOut } from './carry-out.ts'
import type { CommandContext } from '../commands/context.ts'
import type { ExitCode } from '../../library/exit-codes.ts'
import type { UndoFlags } from '../arguments/flags.ts'
import { parseRequest } from '../arguments/request.ts'

/** Runs an upgrade to the images that an earlier run has on record. */
export async function undoAction(workload: string, flags: UndoFlags, context: CommandContext): Promise<ExitCode> {
  const undo = flags.run === undefined ? {} : { run: flags.run }
  return carryOut(() => ({ ...parseRequest([workload], flags, 'undo'), undo }), flags, context)
}
