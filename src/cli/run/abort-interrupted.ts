import type { InterruptSignal } from '../exit-codes.ts'
import { orderStands } from './order-stands.ts'

/** What is said of an abort that a signal ends. */
export function abortInterrupted({ signal }: { signal: InterruptSignal }, resumeCommand: string): string {
  return `${signal}: stopped. ${orderStands(resumeCommand)}`
}
