import type { LedgerHeader, LedgerWorkload } from '../../journal/ledger.ts'

/** The run is about a workload of that name, which may have been made again since. */
export function isNamedBy(
  { workloads }: Pick<LedgerHeader, 'workloads'>,
  { kind, name }: Pick<LedgerWorkload, 'kind' | 'name'>,
): boolean {
  return workloads.some((one) => one.kind === kind && one.name === name)
}
