import type { Ledger } from '../../journal/ledger.ts'
import { openEntries } from './open-entries.ts'

/** A run that is not finished has on record what was drained for the pod: where its journal cannot be read, a person may say that it is out. */
export function isOpenFor(uid: string, ledgers: readonly Ledger[]): boolean {
  return ledgers
    .filter(({ header }) => header.finishedAt === undefined)
    .some((ledger) => openEntries(ledger, ledgers).some((entry) => entry.uid === uid && entry.targets.length > 0))
}
