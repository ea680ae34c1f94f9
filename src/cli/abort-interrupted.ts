import type { InterruptSignal } from './exit-codes.ts'

/** What is said of an abort that a signal ends: its order may stand, and is not taken back. */
export function abortInterrupted({ signal }: { signal: InterruptSignal }, resumeCommand: string): string {
  return `${signal}: stopped. ${orderStands(resumeCommand)}`
}

export function orderStands(resumeCommand: string): string {
  return `An order that was given stands, as sluice status shows. To go on from here:\n  ${resumeCommand}\n`
}
