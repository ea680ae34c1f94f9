import type { CleanupNeed } from '../../reasons/cleanup-reasons.ts'
import type { Ledger, LedgerWorkload } from '../../journal/ledger.ts'
import { openEntries } from './open-entries.ts'
import { isTakenOver } from './taken-over.ts'

/** The reason why an unfinished run still needs this record. Undefined where none does. */
export function needFor(ledger: Ledger, all: readonly Ledger[]): CleanupNeed | undefined {
  const others = all.filter((one) => one !== ledger)
  const unfinished = others.filter(({ header }) => header.finishedAt === undefined)
  const undo = unfinished.find(({ header }) => header.undoes === ledger.header.run)
  if (undo) return { need: 'undo', run: undo.header.run }
  // Without this record, entries would read as open again, and be settled once more.
  const settled = unfinished.find((one) => openEntries(one, others).length > openEntries(one, all).length)
  if (settled) return { need: 'settled', run: settled.header.run }
  // Without this record, the unfinished run would stay open for a workload that another run has taken over.
  const shared = unfinished.find(({ header }) => {
    const isTaken = (some: readonly Ledger[], one: LedgerWorkload): boolean =>
      isTakenOver(
        one,
        header,
        some.map((other) => other.header),
      )
    return header.workloads.length > 1 && header.workloads.some((one) => isTaken(all, one) && !isTaken(others, one))
  })
  return shared && { need: 'shared', run: shared.header.run }
}
