import type { Command } from 'commander'
import type { Invocation } from '../invocation.ts'

/** Points to the help after a mistake on the command line, to that of `command` where it is known. */
export function usageHint({ program }: Pick<Invocation, 'program'>, command = 'COMMAND'): string {
  return `Run "${program} ${command} --help" for its usage.`
}

/** Returns the words of a command after the program, such as `adapter new`. */
export function commandPath(command: Command): string {
  const { parent } = command
  return parent === null || parent.parent === null ? command.name() : `${commandPath(parent)} ${command.name()}`
}
