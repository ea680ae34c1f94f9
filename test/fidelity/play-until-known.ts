import { type Golden, strangers } from './golden.ts'
import type { Trace } from './trace.ts'

const ATTEMPTS = 3

/**
 * Plays a scenario until it goes as it was recorded, three times at most; what was strange the last time, or nothing.
 * A step that is seen for the first time is chance on a busy machine; one that is new three times in a row is not.
 */
export async function playUntilKnown(
  name: string,
  golden: Golden,
  play: (attempt: number) => Promise<Trace>,
): Promise<Record<string, string[]>> {
  let strange: Record<string, string[]> = {}
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    strange = strangers(golden, await play(attempt))
    if (Object.keys(strange).length === 0) break
    console.warn(`${name} is strange in attempt ${attempt}: ${JSON.stringify(strange, undefined, 2)}`)
  }
  return strange
}
