import type { Ledger } from '../journal/ledger.ts'
import { openEntries } from './open-entries.ts'

/** Why a run that is not finished still needs the record of this one; undefined where none does. */
export function needFor(ledger: Ledger, all: readonly Ledger[]): string | undefined {
  const others = all.filter((one) => one !== ledger)
  const unfinished = others.filter(({ header }) => header.finishedAt === undefined)
  const undo = unfinished.find(({ header }) => header.undoes === ledger.header.run)
  if (undo) return `run ${undo.header.run}, which is not finished, takes it back`
  // Without it they would read as open again, and be settled once more.
  const settled = unfinished.find((one) => openEntries(one, others).length > openEntries(one, all).length)
  return settled && `it has settled pods of run ${settled.header.run}, which is not finished`
}
