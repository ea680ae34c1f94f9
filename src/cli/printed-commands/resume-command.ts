import type { Plan } from '../../plan/plan.ts'
import type { ParsedRequest } from '../arguments/request.ts'
import type { Invocation } from '../invocation.ts'
import { environmentWords, type SharedFlags } from './shared-flags.ts'
import { type PrintedCommand, printedCommand } from './printed-command.ts'

/**
 * The command that continues where this one stopped: this command, as typed. Files that the environment named become flags, since the
 * command may be pasted elsewhere, and so does the run that an undo takes back, where it is known.
 */
export function resumeCommand(
  { program, args }: Invocation,
  flags: Pick<SharedFlags, 'config' | 'kubeconfig'>,
  env: NodeJS.ProcessEnv,
  undone?: string,
): PrintedCommand {
  // After a "--" the flags would be workloads. A "--" before the command does not count.
  const flagsEnd = args.includes('--', 1) ? args.indexOf('--', 1) : args.length
  const added = [...(undone === undefined ? [] : ['--run', undone]), ...environmentWords(flags, env)]
  return printedCommand({ program }, [...args.slice(0, flagsEnd), ...added, ...args.slice(flagsEnd)])
}

/** The run that an undo has chosen by itself. A command to continue must name it, since a newer run may have come in between. */
export function undoneUnnamed({ undo }: Pick<ParsedRequest, 'undo'>, plan: Pick<Plan, 'undoes'> | undefined): string | undefined {
  return undo !== undefined && undo.run === undefined ? plan?.undoes?.run : undefined
}
