import { EXIT, type ExitCode, type InterruptSignal } from '../../library/exit-codes.ts'

/** Below what has ended an abort before the run is over: its order may stand, and is not taken back. */
export function orderStands(resumeCommand: string): string {
  return `An order that was given stands, as sluice status shows. To go on from here:\n  ${resumeCommand}\n`
}

/** The same, where a signal has ended it. */
export function abortInterrupted({ signal }: { signal: InterruptSignal }, resumeCommand: string): string {
  return `${signal}: stopped. ${orderStands(resumeCommand)}`
}

/** The codes that say that nothing was touched are wrong by then; the same command goes on, as after any deadline. */
export function codeOnceOrdered(code: ExitCode): ExitCode {
  return code === EXIT.usage || code === EXIT.preflight ? EXIT.deadline : code
}
