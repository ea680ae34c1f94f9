/** A load balancer that reads a document by itself takes a change after it was written. */
import { setTimeout as sleep } from 'node:timers/promises'
import { AdapterError } from './contract.ts'

const LOOK_EVERY_MS = 5

export interface Taking {
  component: string
  withinMs: number
  /** Default: for what is asked on this host. */
  everyMs?: number
  signal: AbortSignal
}

/**
 * Waits until `whyNotTaken` gives nothing. The change has been written: what fails from here on, and what takes too long, is in doubt.
 */
export async function waitUntilTaken(
  whyNotTaken: () => Promise<string | undefined>,
  { component, withinMs, everyMs = LOOK_EVERY_MS, signal }: Taking,
): Promise<void> {
  const giveUpAt = performance.now() + withinMs
  while (true) {
    const why = await whyNotTaken().catch((error: Error) => `whether the change is taken cannot be asked: ${messageOf(error)}`)
    if (why === undefined) return
    if (performance.now() > giveUpAt) throw new AdapterError(component, 'ambiguous', why)
    await sleep(everyMs, undefined, { signal })
  }
}

function messageOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}
