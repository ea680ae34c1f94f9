import type { Failure } from './failures.ts'
import { logLevel } from './log-level.ts'
import { inert } from './output/inert.ts'
import type { Terminal } from './terminal.ts'

/** Prints a failure on stderr. Where its words were printed already, only the stack is added. */
export function reportFailure(
  { lines, stack }: Failure,
  { verbose = false }: { verbose?: boolean },
  { err, env }: Pick<Terminal, 'err' | 'env'>,
): void {
  const showStack = stack !== undefined && (verbose || ['trace', 'debug'].includes(logLevel(false, env) ?? ''))
  const all = showStack ? [...lines, ...stack.split('\n')] : lines
  for (const line of all) err.write(`${line.match(/^ */)?.[0] ?? ''}${inert(line.trimStart())}\n`)
}
