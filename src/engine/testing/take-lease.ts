import type { VirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { Ownership } from '../leases/hold-lease.ts'
import type { OwnershipOptions } from '../leases/ownership.ts'
import { takeOwnership } from '../leases/ownership.ts'
import type { LeaseServer } from './lease-server.ts'

/** Takes the Lease of the server as `me`, where neither a journal nor a record tells of an owner. */
export function takeLease(
  { clock, server }: { clock: VirtualClock; server: LeaseServer },
  options: Partial<OwnershipOptions> = {},
): Promise<Ownership> {
  return takeOwnership({
    client: server.client,
    clock,
    namespace: 'shop',
    lease: 'sluice-statefulset-web',
    holder: 'me',
    epochFloor: () => 0,
    readJournals: async () => {},
    hadOwner: async () => false,
    signal: new AbortController().signal,
    onWaiting() {},
    onRegained: async () => {},
    onLost() {},
    onOrder() {},
    onTrouble() {},
    ...options,
  })
}
