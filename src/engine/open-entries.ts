import type { Ledger, LedgerEntry } from '../journal/ledger.ts'

/**
 * Entries of a ledger that are nobody's to settle any more are left out: closed there, or by a run that came after it, of
 * whatever workload. What has become of the targets since is an operator's doing.
 */
export function openEntries({ header, entries }: Ledger, all: Iterable<Ledger>): LedgerEntry[] {
  const later = [...all].filter((other) => other.header.startedAt > header.startedAt)
  return [...entries.values()].filter(
    ({ uid, state }) => state !== 'closed' && !later.some((other) => other.entries.get(uid)?.state === 'closed'),
  )
}
