import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../ports/clock.ts'
import { pause } from '../../kube/pause.ts'
import type { LeaseRecord } from './lease.ts'
import { LOOK_EVERY_MS } from './lease.ts'
import type { SeenLease } from './ownership.ts'
import { isRenewed, PAUSE_MS } from './ownership.ts'
import { readLeasePatiently } from './read-lease.ts'

export interface WatchOwnerOptions {
  client: KubeClient
  clock: Clock
  namespace: string
  leases: readonly LeaseRecord[]
  signal?: AbortSignal | undefined
  /** After each look at a Lease that is held. */
  onLook(holder: string): void
}

/**
 * Waits until each Lease was given back, or its owner is dead: then answers what was seen of it, so that a takeover need
 * not wait anew. Of one that somebody has deleted too: its owner may live, and is waited for then. Rejects with a KubeError, and with
 * the reason of the signal.
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
    // All of them from the beginning: those of one dead run are not waited out one after another.
    let seen: SeenLease = { record: lease, since: beganAt }
    for (;;) {
      const record = await readLeasePatiently({ client, clock, namespace, name, ...(signal && { signal }) })
      if (record?.holder === '') break
      if (record === undefined) {
        // Found by simulation (harsh seed 9316550): it was taken for nobody's, and ended a run whose owner was at work.
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
