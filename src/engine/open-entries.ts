import type { Ledger, LedgerEntry } from '../journal/ledger.ts'

/**
 * Entries of a ledger that are nobody's to settle any more are left out: closed there, or by a run that came after it, of
 * whatever workload: a run that is finished has none of its pods open, whatever their entries say. What has become of the
 * targets since is an operator's doing.
 */
export function openEntries({ header, entries }: Ledger, all: Iterable<Ledger>): LedgerEntry[] {
  const later = [...all].filter((other) => other.header.startedAt > header.startedAt)
  return [...entries.values()].filter(({ uid, state }) => state !== 'closed' && !later.some((other) => hasClosed(other, uid)))
}

function hasClosed({ header, entries }: Ledger, uid: string): boolean {
  const entry = entries.get(uid)
  return entry !== undefined && (entry.state === 'closed' || header.finishedAt !== undefined)
}
