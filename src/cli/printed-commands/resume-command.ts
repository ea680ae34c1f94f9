import type { Plan } from '../../plan/plan.ts'
import type { ParsedRequest } from '../arguments/request.ts'
import type { Invocation } from '../invocation.ts'
import { environmentWords, type SharedFlags } from './shared-flags.ts'
import { type PrintedCommand, printedCommand } from './printed-command.ts'

/**
 * The command that goes on where this one stopped: the same one, as it was typed. The files that the environment named are written
 * out: the command may be pasted elsewhere. So is the run that an undo takes back, where that is known.
 */
export function resumeCommand(
  { program, args }: Invocation,
  flags: Pick<SharedFlags, 'config' | 'kubeconfig'>,
  env: NodeJS.ProcessEnv,
  undone?: string,
): PrintedCommand {
  // Behind a "--" it would be a workload; but one may stand before the command.
  const flagsEnd = args.includes('--', 1) ? args.indexOf('--', 1) : args.length
  const added = [...(undone === undefined ? [] : ['--run', undone]), ...environmentWords(flags, env)]
  return printedCommand({ program }, [...args.slice(0, flagsEnd), ...added, ...args.slice(flagsEnd)])
}

/**
 * The run that an undo has chosen, where nobody has named it. Found by a reader: another release came in between, and the command that
 * was to go on would have taken that one back.
 */
export function undoneUnnamed({ undo }: Pick<ParsedRequest, 'undo'>, plan: Pick<Plan, 'undoes'> | undefined): string | undefined {
  return undo !== undefined && undo.run === undefined ? plan?.undoes?.run : undefined
}
