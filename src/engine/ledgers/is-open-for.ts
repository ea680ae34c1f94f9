import type { Ledger } from '../../journal/ledger.ts'
import { openEntries } from './open-entries.ts'

/**
 * Reports whether an unfinished run has drained targets of the pod on record. A person may then say that a pod with an unreadable journal
 * is out.
 */
export function isOpenFor(uid: string, ledgers: readonly Ledger[]): boolean {
  return ledgers
    .filter(({ header }) => header.finishedAt === undefined)
    .some((ledger) => openEntries(ledger, ledgers).some((entry) => entry.uid === uid && entry.targets.length > 0))
}
