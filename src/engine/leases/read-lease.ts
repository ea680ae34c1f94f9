import type { CallOptions, KubeClient } from '../../kube/client.ts'
import { isNotFound, isUnauthorized, KubeError } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LeaseRecord } from './lease.ts'
import { LEASE_DURATION_MS, leasePath, leaseRecord } from './lease.ts'

const AGAIN_AFTER_MS = 1_000

/** Undefined where there is none. Rejects with a KubeError. */
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

/** The same, for as long as a Lease lives: an API server that is away for a moment says nothing about it. */
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

/** An API server that has just begun forbids all; a 404 that does not say that there is no Lease is of a gateway that has lost its own. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof KubeError) || error.kind !== 'definite') return false
  return error.status !== undefined && error.status !== 404 && !isUnauthorized(error)
}
