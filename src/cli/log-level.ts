import { quote } from '../library/request/quote.ts'
import { UsageError } from './arguments/usage-error.ts'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export function assertLogLevel(env: NodeJS.ProcessEnv): void {
  const level = logLevel(false, env)
  if (level === undefined || LEVELS.includes(level)) return
  throw new UsageError([`SLUICE_LOG: ${quote(level)} is none of ${LEVELS.join(', ')}`])
}

/** Returns the level that -v or SLUICE_LOG asks for; undefined without either. */
export function logLevel(verbose: boolean, env: NodeJS.ProcessEnv): string | undefined {
  return env['SLUICE_LOG'] || (verbose ? 'debug' : undefined)
}

/** Reports whether log lines will appear between lines of output. */
export function isLogging(verbose: boolean, env: NodeJS.ProcessEnv): boolean {
  return ![undefined, 'silent'].includes(logLevel(verbose, env))
}
