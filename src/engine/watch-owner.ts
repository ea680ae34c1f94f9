import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../ports/clock.ts'
import { KubeError } from '../kube/errors.ts'
import type { LeaseRecord } from './lease.ts'
import { LEASE_DURATION_MS, leasePath, leaseRecord } from './lease.ts'
import { isRenewed, PAUSE_MS } from './ownership.ts'

const LOOK_EVERY_MS = 1_000

/** A Lease that is held, and since when (on the clock) nobody has renewed it. */
export interface SeenLease {
  record: LeaseRecord
  since: number
}

export interface WatchOwnerOptions {
  client: KubeClient
  clock: Clock
  namespace: string
  leases: readonly LeaseRecord[]
  /** After each look at a Lease that is held. */
  onLook(holder: string): void
}

/**
 * Waits until each Lease was given back, or its owner is dead: then answers what was seen of it, so that a takeover need
 * not wait anew. Rejects with a KubeError.
 */
export async function watchOwner({
  client,
  clock,
  namespace,
  leases,
  onLook,
}: WatchOwnerOptions): Promise<Map<string, SeenLease>> {
  const dead = new Map<string, SeenLease>()
  for (const { name } of leases) {
    let seen: SeenLease | undefined
    for (;;) {
      const record = await readPatiently(name)
      if (record === undefined || record.holder === '') break
      if (seen === undefined || isRenewed(seen.record, record)) seen = { record, since: clock.now() }
      else seen = { record, since: seen.since }
      if (clock.now() - seen.since >= record.durationMs + PAUSE_MS) {
        dead.set(name, seen)
        break
      }
      onLook(record.holder)
      await sleep()
    }
  }
  return dead

  function sleep(): Promise<void> {
    return new Promise((resolve) => void clock.setTimeout(resolve, LOOK_EVERY_MS))
  }

  /** An API server that is away for a moment says nothing about the Lease. Undefined where there is none. */
  async function readPatiently(name: string): Promise<LeaseRecord | undefined> {
    const since = clock.now()
    for (;;) {
      try {
        return leaseRecord(await client.get(leasePath(namespace, name)))
      } catch (error) {
        if (error instanceof KubeError && error.status === 404) return undefined
        const refused = error instanceof KubeError && error.kind === 'definite' && error.status !== undefined
        if (refused || clock.now() - since > LEASE_DURATION_MS) throw error
        await sleep()
      }
    }
  }
}
