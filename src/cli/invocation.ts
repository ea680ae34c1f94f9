import { basename } from 'node:path'

/** How this process was called. */
export interface Invocation {
  /** What a person types: `sluice`, or `kubectl sluice` where kubectl found it as its plugin. */
  program: string
  /** What follows the program. */
  args: readonly string[]
}

export function invocationOf(argv: readonly string[]): Invocation {
  const [, script = '', ...args] = argv
  const isPlugin = basename(script).replace(/\.[a-z]+$/, '') === 'kubectl-sluice'
  return { program: isPlugin ? 'kubectl sluice' : 'sluice', args }
}
