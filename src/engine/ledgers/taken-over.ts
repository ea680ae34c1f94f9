import type { Ledger, LedgerHeader } from '../../journal/ledger.ts'
import type { WorkloadKey } from '../../pods/workload-id.ts'
import { isNamedBy } from './is-named-by.ts'

/* A run of several workloads stays open for the workloads that no later run has taken over. */

/**
 * Reports whether a later run has finished the workload: not by an abort, and not for a part of its pods (`part`). The run itself notes a
 * partial end, since the caller may not see its pods.
 */
export function isTakenOver(
  workload: WorkloadKey,
  { startedAt }: Pick<LedgerHeader, 'startedAt'>,
  all: Iterable<LedgerHeader>,
): boolean {
  return [...all].some(
    (one) =>
      one.finishedAt !== undefined &&
      one.aborted === undefined &&
      !one.part &&
      one.startedAt > startedAt &&
      isNamedBy(one, workload),
  )
}

/**
 * The ledger with only the workloads for which its run stays open. An abort of the run does not take back workloads that later runs have
 * finished.
 */
export function ofTheRest(ledger: Ledger, all: readonly Ledger[]): Ledger {
  const { header } = ledger
  if (header.workloads.length === 1) return ledger
  const headers = all.map((one) => one.header)
  return { ...ledger, header: { ...header, workloads: header.workloads.filter((one) => !isTakenOver(one, header, headers)) } }
}
