import { leaseName } from '../engine/leases/lease-name.ts'
import type { OpenRuns } from '../engine/orders/open-runs.ts'

/** The holder of the Lease of a workload that was asked for. A run may include other workloads, whose Leases other runs may hold. */
export function askedForHolder({ refs, leases }: Pick<OpenRuns, 'refs' | 'leases'>): string | undefined {
  const asked = new Set(refs.map(leaseName))
  return leases.find(({ name, holder }) => holder !== '' && asked.has(name))?.holder
}
