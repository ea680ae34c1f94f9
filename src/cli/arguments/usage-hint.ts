import type { Invocation } from '../invocation.ts'

/** Where to read on after a mistake on the command line; `command` where it is known. */
export function usageHint({ program }: Pick<Invocation, 'program'>, command = 'COMMAND'): string {
  return `Run "${program} ${command} --help" for its usage.`
}
