import type { Invocation } from './invocation.ts'
import { shellQuote } from './shell-quote.ts'

/**
 * The command that goes on where this one stopped: the same one, as it was typed. A config that the environment named is
 * written out: the command may be pasted elsewhere.
 */
export function resumeCommand({ program, args }: Invocation, env: NodeJS.ProcessEnv = {}): string {
  const named = args.some((arg) => arg === '--config' || arg.startsWith('--config='))
  const config = named || !env['SLUICE_CONFIG'] ? [] : ['--config', env['SLUICE_CONFIG']]
  // Behind a "--" it would be a workload.
  const flagsEnd = args.includes('--') ? args.indexOf('--') : args.length
  return `${program} ${shellQuote([...args.slice(0, flagsEnd), ...config, ...args.slice(flagsEnd)])}`
}
