import type { Failure } from './failures.ts'
import { inert } from './output/inert.ts'
import type { Terminal } from './terminal.ts'

/** Says on stderr what went wrong; where it was said already in these words, only the stack is of use. */
export function reportFailure(
  { lines, stack }: Failure,
  { verbose }: { verbose?: boolean },
  { err, env }: Pick<Terminal, 'err' | 'env'>,
): void {
  const showStack = stack !== undefined && (verbose === true || Boolean(env['SLUICE_DEBUG']))
  const all = showStack ? [...lines, ...stack.split('\n')] : lines
  for (const line of all) err.write(`${line.match(/^ */)?.[0] ?? ''}${inert(line.trimStart())}\n`)
}
