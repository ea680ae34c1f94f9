import { isUnauthorized, KubeError } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import { RunError } from '../errors.ts'
import { LEASE_DURATION_MS, LOOK_EVERY_MS, RENEW_EVERY_MS } from '../../leases/lease.ts'

/** The time for retries: the life of a Lease that cannot be renewed any more. After it, another owner may continue the run. */
const TRIED_FOR_MS = LEASE_DURATION_MS - RENEW_EVERY_MS

/**
 * Repeats `work` while the API server does not answer, and rejects with the error of the last try. A short outage must not leave a finished
 * run with an open ledger. After `signal`, the running try is the last.
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

/** Reports whether the error says nothing about the request itself, and may pass. */
export function isPassing(error: unknown): boolean {
  if (error instanceof RunError) return error.kind === 'deadline'
  if (!(error instanceof KubeError)) return false
  const { kind, status } = error
  return kind === 'ambiguous' || kind === 'throttled' || status === undefined || isUnauthorized(error)
}
