import { isUnauthorized, KubeError } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import { RunError } from '../errors.ts'
import { LEASE_DURATION_MS, LOOK_EVERY_MS, RENEW_EVERY_MS } from '../leases/lease.ts'

/** As long as a Lease lives that cannot be renewed any more: after that another may go on with the run. */
const TRIED_FOR_MS = LEASE_DURATION_MS - RENEW_EVERY_MS

/**
 * Tries `work` again while the API server does not answer, and rejects as its last try did. Found by chaos: the API server was being
 * restarted when the last pod came to its end, and the run was done, exit 0, with a ledger that was open. Where `signal` fires, the
 * try that is under way is the last.
 */
export async function untilAnswered<T>(
  work: () => Promise<T>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<T> {
  const endsAt = clock.now() + TRIED_FOR_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const isLast = clock.now() + LOOK_EVERY_MS >= endsAt
      if (!isPassing(error) || isLast || !(await pause(clock, LOOK_EVERY_MS, signal))) throw error
    }
  }
}

/** It says nothing of what was asked for. */
export function isPassing(error: unknown): boolean {
  if (error instanceof RunError) return error.kind === 'deadline'
  if (!(error instanceof KubeError)) return false
  const { kind, status } = error
  return kind === 'ambiguous' || kind === 'throttled' || status === undefined || isUnauthorized(error)
}
