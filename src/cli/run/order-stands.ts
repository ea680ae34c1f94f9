import { EXIT, type ExitCode, type InterruptSignal } from '../../library/exit-codes.ts'

/** The text below the failure of an abort before the run is over: the order may stand, and is not withdrawn. */
export function orderStands(resumeCommand: string): string {
  return `An order that was given stands, as sluice status shows. To go on from here:\n  ${resumeCommand}\n`
}

/** The text where a signal has ended the abort. */
export function abortInterrupted({ signal }: { signal: InterruptSignal }, resumeCommand: string): string {
  return `${signal}: stopped. ${orderStands(resumeCommand)}`
}

/** After an order, the exit codes for "nothing was touched" are wrong. The code of a deadline says that the command can be repeated. */
export function codeOnceOrdered(code: ExitCode): ExitCode {
  return code === EXIT.usage || code === EXIT.preflight ? EXIT.deadline : code
}
