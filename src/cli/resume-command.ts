import type { Invocation } from './invocation.ts'
import { shellQuote } from './shell-quote.ts'

/** The command that goes on where this one stopped: the same one, as it was typed. */
export function resumeCommand({ program, args }: Invocation): string {
  return `${program} ${shellQuote(args)}`
}
