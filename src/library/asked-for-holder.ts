import { leaseName } from '../engine/leases/lease.ts'
import type { OpenRuns } from '../engine/orders/open-runs.ts'

/** Who has what was asked for: a run may be of other workloads too, at which another one is at work. */
export function askedForHolder({ refs, leases }: Pick<OpenRuns, 'refs' | 'leases'>): string | undefined {
  const asked = new Set(refs.map(leaseName))
  return leases.find(({ name, holder }) => holder !== '' && asked.has(name))?.holder
}
