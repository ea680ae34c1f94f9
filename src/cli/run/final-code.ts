import type { RunResult } from '../../engine/events.ts'
import { EXIT, exitCodeOf, type ExitCode } from '../../library/exit-codes.ts'
import { codeOf, type InterruptCause } from './interrupts.ts'
import { codeOnceOrdered } from './order-stands.ts'

/**
 * What a run exits with that was interrupted by `cause`, if by any. One that sluice's own mistake broke into has not succeeded,
 * whatever the engine made of it.
 */
export function finalCode({ outcome }: Pick<RunResult, 'outcome'>, cause: InterruptCause | undefined, aborts: boolean): ExitCode {
  if (aborts && outcome === 'aborted') return EXIT.done
  const code = exitCodeOf({ outcome }, cause !== undefined && 'signal' in cause ? cause.signal : undefined)
  if (code === EXIT.done && cause !== undefined && 'bug' in cause) return codeOf(cause)
  return aborts ? codeOnceOrdered(code) : code
}
