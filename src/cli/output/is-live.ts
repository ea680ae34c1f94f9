import { isLogging } from '../log-level.ts'
import type { Sink } from './sink.ts'

/**
 * Something may be redrawn in place there. Logs between its frames would tear it apart; some CI systems give their jobs a terminal that is
 * none.
 */
export function isLiveTerminal(sink: Pick<Sink, 'isTerminal'>, verbose: boolean, env: NodeJS.ProcessEnv): boolean {
  return sink.isTerminal && env['TERM'] !== 'dumb' && !env['CI'] && !isLogging(verbose, env)
}
