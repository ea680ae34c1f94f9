import { basename } from 'node:path'

/** The way in which this process was called. */
export interface Invocation {
  /** The program as a user types it: `sluice`, or `kubectl sluice` where kubectl runs it as a plugin. */
  program: string
  /** The arguments after the program. */
  args: readonly string[]
}

export function invocationOf(argv: readonly string[]): Invocation {
  const [, script = '', ...args] = argv
  const isPlugin = basename(script).replace(/\.[a-z]+$/, '') === 'kubectl-sluice'
  return { program: isPlugin ? 'kubectl sluice' : 'sluice', args }
}
