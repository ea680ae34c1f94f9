import type { KubeClient } from '../../kube/client.ts'
import { listPages } from '../../kube/list-pages.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LeaseRecord } from '../../leases/lease.ts'
import { DOCUMENT_LEASES } from './lease-name.ts'
import { leasePath, leaseRecord, LOOK_EVERY_MS } from '../../leases/lease.ts'
import { isRenewed } from './ownership.ts'
import { PAUSE_MS } from '../../leases/lease.ts'

/**
 * Finds a Lease in the namespace whose owner lives. A held Lease that is not renewed is observed for as long as it lives. Without that, the
 * Lease of a killed process would count for ever where its workload is gone.
 */
export async function liveLease(client: KubeClient, clock: Clock, namespace: string): Promise<LeaseRecord | undefined> {
  const since = clock.now()
  const first = await heldLeases(client, namespace)
  const endMs = Math.max(0, ...Array.from(first.values(), ({ durationMs }) => durationMs)) + PAUSE_MS
  let now = first
  while (now.size > 0) {
    for (const [name, record] of now) {
      const before = first.get(name)
      if (before === undefined || isRenewed(before, record)) return record
    }
    if (clock.now() - since >= endMs) return undefined
    await pause(clock, LOOK_EVERY_MS)
    now = await heldLeases(client, namespace)
  }
  return undefined
}

async function heldLeases(client: KubeClient, namespace: string): Promise<Map<string, LeaseRecord>> {
  const { items } = await listPages({ client, path: leasePath(namespace) })
  const isOfRun = (name: string): boolean => name.startsWith('sluice-') && !name.startsWith(DOCUMENT_LEASES)
  const held = items.map(leaseRecord).filter(({ name, isGivenBack }) => isOfRun(name) && !isGivenBack)
  return new Map(held.map((record) => [record.name, record]))
}
