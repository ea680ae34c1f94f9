import type { CallOptions, KubeClient } from '../kube/client.ts'
import { isNotFound, isUnauthorized, KubeError } from '../kube/errors.ts'
import { pause } from '../kube/pause.ts'
import type { Clock } from '../ports/clock.ts'
import type { LeaseRecord } from './lease.ts'
import { LEASE_DURATION_MS, leasePath, leaseRecord } from './lease.ts'

const AGAIN_AFTER_MS = 1_000

/** Reads a Lease. Resolves with undefined where there is none. Rejects with a KubeError. */
export async function readLease(
  client: KubeClient,
  namespace: string,
  name: string,
  options?: CallOptions,
): Promise<LeaseRecord | undefined> {
  try {
    return leaseRecord(await client.get(leasePath(namespace, name), options))
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Reads a Lease, and retries for as long as a Lease lives: a short outage of the API server says nothing about the Lease. */
export async function readLeasePatiently(options: {
  client: KubeClient
  clock: Clock
  namespace: string
  name: string
  signal?: AbortSignal
  onTrouble?(error: Error): void
}): Promise<LeaseRecord | undefined> {
  const { client, clock, namespace, name, signal } = options
  const since = clock.now()
  for (;;) {
    try {
      return await readLease(client, namespace, name)
    } catch (error) {
      if (isRefusal(error) || clock.now() - since > LEASE_DURATION_MS) throw error
      options.onTrouble?.(error as Error)
      await pause(clock, AGAIN_AFTER_MS, signal)
      signal?.throwIfAborted()
    }
  }
}

/**
 * Reports whether the API server refuses the request for good. A 401, or a 403 of the authorizer, can come from an API server that has just
 * started. A 404 that names no Lease comes from a gateway that has lost its backend.
 */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof KubeError) || error.kind !== 'definite') return false
  return error.status !== undefined && error.status !== 404 && !isUnauthorized(error)
}
