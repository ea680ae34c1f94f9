import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../ports/clock.ts'
import { pause } from '../../kube/pause.ts'
import type { LeaseRecord } from '../../leases/lease.ts'
import { LOOK_EVERY_MS } from '../../leases/lease.ts'
import type { SeenLease } from './ownership.ts'
import { isRenewed } from './ownership.ts'
import { PAUSE_MS } from '../../leases/lease.ts'
import { readLeasePatiently } from '../../leases/read-lease.ts'

export interface WatchOwnerOptions {
  client: KubeClient
  clock: Clock
  namespace: string
  leases: readonly LeaseRecord[]
  signal?: AbortSignal | undefined
  /** Called after each look at a held Lease. */
  onLook(holder: string): void
}

/**
 * Waits until the owner of each Lease gave it back or is dead. Resolves with the readings, so that a takeover need not wait again. The
 * result includes deleted Leases, whose owner may live, so the takeover waits for that owner. Rejects with a KubeError, or with the reason
 * of the signal.
 */
export async function watchOwner({
  client,
  clock,
  namespace,
  leases,
  signal,
  onLook,
}: WatchOwnerOptions): Promise<Map<string, SeenLease>> {
  const known = new Map<string, SeenLease>()
  const beganAt = clock.now()
  for (const lease of leases) {
    const { name } = lease
    // The time counts for all Leases from the beginning, so that the Leases of one dead run are not waited out one by one.
    let seen: SeenLease = { record: lease, since: beganAt }
    for (;;) {
      const record = await readLeasePatiently({ client, clock, namespace, name, ...(signal && { signal }) })
      if (record?.holder === '') break
      if (record === undefined) {
        // A deleted Lease may still have an owner at work.
        known.set(name, seen)
        break
      }
      seen = { record, since: isRenewed(seen.record, record) ? clock.now() : seen.since }
      if (clock.now() - seen.since >= record.durationMs + PAUSE_MS) {
        known.set(name, seen)
        break
      }
      onLook(record.holder)
      await pause(clock, LOOK_EVERY_MS, signal)
      signal?.throwIfAborted()
    }
  }
  return known
}
