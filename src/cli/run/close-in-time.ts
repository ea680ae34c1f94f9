import { withinLimit } from '../../kube/within-limit.ts'
import type { Clock } from '../../ports/clock.ts'

/** Long enough for a socket to close, and short enough not to delay the exit. */
const CLOSE_LIMIT_MS = 2000

/** Limits the time of `close`. Work that remains then ends with the process. */
export async function closeInTime(clock: Clock, close: () => Promise<unknown>): Promise<void> {
  await withinLimit(clock, CLOSE_LIMIT_MS, close)
}
