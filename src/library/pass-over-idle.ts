import { hasChanged } from '../engine/ledgers/has-changed.ts'
import { isNamedBy } from '../engine/ledgers/is-named-by.ts'
import type { WorkloadId } from '../pods/workload-id.ts'
import type { Ledger, ReadLedger } from '../journal/ledger.ts'

/**
 * Without the newest runs of a workload that had nothing to do, where there is one before them that had, as an undo passes over them.
 * Found by a reader: the same command once more, to be sure, and the report of the release was that of a run without pods.
 */
export function passOverIdle(
  found: readonly ReadLedger[],
  workload: WorkloadId,
): { left: readonly ReadLedger[]; passedOver: string[] } {
  const newestFirst = found
    .flatMap((one) => (one.kind === 'read' ? [one.ledger] : []))
    .filter(({ header }) => isNamedBy(header, workload))
    .toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? 1 : -1))
  const first = newestFirst.findIndex((ledger) => !isIdle(ledger))
  const idle = first < 0 ? [] : newestFirst.slice(0, first)
  return {
    left: found.filter((one) => one.kind !== 'read' || !idle.includes(one.ledger)),
    passedOver: idle.map(({ header }) => header.run),
  }
}

/** One that is open may be about to begin; of one that somebody has ended it is told by whom. */
function isIdle(ledger: Ledger): boolean {
  return ledger.header.finishedAt !== undefined && ledger.header.aborted === undefined && !hasChanged(ledger)
}
