import { isLogging } from '../log-level.ts'
import type { Sink } from './sink.ts'

/**
 * Returns whether a screen can be redrawn in place on the terminal. Logs would tear its frames apart, and the terminal of some CI systems
 * is not a real one.
 */
export function isLiveTerminal(sink: Pick<Sink, 'isTerminal'>, verbose: boolean, env: NodeJS.ProcessEnv): boolean {
  return sink.isTerminal && env['TERM'] !== 'dumb' && !env['CI'] && !isLogging(verbose, env)
}
