import type { Invocation } from '../invocation.ts'
import { environmentWords, type SharedFlags } from './shared-flags.ts'
import { shellQuote } from './shell-quote.ts'

/**
 * The command that goes on where this one stopped: the same one, as it was typed. The files that the environment named are written
 * out: the command may be pasted elsewhere.
 */
export function resumeCommand(
  { program, args }: Invocation,
  flags: Pick<SharedFlags, 'config' | 'kubeconfig'>,
  env: NodeJS.ProcessEnv,
): string {
  // Behind a "--" it would be a workload; but one may stand before the command.
  const flagsEnd = args.includes('--', 1) ? args.indexOf('--', 1) : args.length
  return `${program} ${shellQuote([...args.slice(0, flagsEnd), ...environmentWords(flags, env), ...args.slice(flagsEnd)])}`
}
