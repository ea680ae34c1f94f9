import { hasChanged } from '../engine/ledgers/has-changed.ts'
import { isNamedBy } from '../engine/ledgers/is-named-by.ts'
import type { WorkloadId } from '../pods/workload-id.ts'
import type { Ledger, ReadLedger } from '../journal/ledger.ts'

/**
 * Leaves out the newest runs of a workload that changed nothing, if an earlier run has changed something; an undo passes over them as well.
 * Otherwise a repeated command would hide the report of the release behind a run without pods.
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

/**
 * An open run is not idle, because it may be about to begin. An aborted run is not idle, because its report names the giver of the abort.
 */
function isIdle(ledger: Ledger): boolean {
  return ledger.header.finishedAt !== undefined && ledger.header.aborted === undefined && !hasChanged(ledger)
}
