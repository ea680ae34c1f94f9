import type { Ledger, LedgerHeader } from '../../journal/ledger.ts'
import type { WorkloadKey } from '../../pods/workload-id.ts'
import { isNamedBy } from './is-named-by.ts'

/* A run may be of several workloads, and another go on with some of them alone: it stays open for the others. */

/**
 * A run that began after this one has come to its end with the workload: not by an abort, nor with some of its pods while others are
 * behind. Who asks may not see these pods, and no record has those that were at their images already: so that run says it itself.
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

/** Of the workloads alone for which it stays open: an abort of it does not take back what others have brought to its end. */
export function ofTheRest(ledger: Ledger, all: readonly Ledger[]): Ledger {
  const { header } = ledger
  if (header.workloads.length === 1) return ledger
  const headers = all.map((one) => one.header)
  return { ...ledger, header: { ...header, workloads: header.workloads.filter((one) => !isTakenOver(one, header, headers)) } }
}
