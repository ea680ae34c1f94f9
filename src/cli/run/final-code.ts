import type { RunResult } from '../../engine/events.ts'
import { EXIT, exitCodeOf, type ExitCode } from '../../library/exit-codes.ts'
import { codeOf, type InterruptCause } from './interrupts.ts'
import { codeOnceOrdered } from './order-stands.ts'

/**
 * Returns the exit code of a run that `cause`, if any, interrupted. A run that a bug of sluice interrupted has not succeeded, whatever
 * its outcome.
 */
export function finalCode({ outcome }: Pick<RunResult, 'outcome'>, cause: InterruptCause | undefined, aborts: boolean): ExitCode {
  if (aborts && outcome === 'aborted') return EXIT.done
  const code = exitCodeOf({ outcome }, cause !== undefined && 'signal' in cause ? cause.signal : undefined)
  if (code === EXIT.done && cause !== undefined && 'bug' in cause) return codeOf(cause)
  return aborts ? codeOnceOrdered(code) : code
}
