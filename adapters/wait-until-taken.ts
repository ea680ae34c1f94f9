/** Waits for a load balancer that reads a document by itself. Such a load balancer loads a change some time after the write. */
import { setTimeout as sleep } from 'node:timers/promises'
import { AdapterError } from './contract.ts'

const LOOK_EVERY_MS = 5

export interface Taking {
  component: string
  withinMs: number
  /** The interval between two reads. The default is for a load balancer on this host. */
  everyMs?: number
  signal: AbortSignal
}

/** Waits until `whyNotTaken` gives undefined. The write is done before, so a failure or a timeout here is ambiguous. */
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
