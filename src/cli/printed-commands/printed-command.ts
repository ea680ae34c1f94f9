import { shellQuote } from '../../report/words/shell-quote.ts'
import type { Invocation } from '../invocation.ts'

/** A command for an operator or a program to run. */
export interface PrintedCommand {
  /** The words of the command. The first one is the program. */
  argv: string[]
  /** The command for a shell. */
  shell: string
}

export function printedCommand({ program }: Pick<Invocation, 'program'>, words: readonly string[]): PrintedCommand {
  return { argv: [...program.split(' '), ...words], shell: `${program} ${shellQuote(words)}` }
}
