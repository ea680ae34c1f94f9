import type { LedgerHeader } from '../../journal/ledger.ts'
import { isSameWorkload, type WorkloadKey } from '../../pods/workload-id.ts'

/** Reports whether the run is about a workload of that name. The workload may have been made again since. */
export function isNamedBy({ workloads }: Pick<LedgerHeader, 'workloads'>, workload: WorkloadKey): boolean {
  return workloads.some((one) => isSameWorkload(one, workload))
}
