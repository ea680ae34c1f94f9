import { withinLimit } from '../../kube/within-limit.ts'
import type { Clock } from '../../ports/clock.ts'

/** Long enough for a socket to close, short enough that nobody waits for one that does not. */
const CLOSE_LIMIT_MS = 2000

/** What `close` is still at after that goes with the process. */
export async function closeInTime(clock: Clock, close: () => Promise<unknown>): Promise<void> {
  await withinLimit(clock, CLOSE_LIMIT_MS, close)
}
