import type { Ledger, LedgerEntry } from '../../journal/ledger.ts'

/** Of pods that are gone, and in whose place nothing was to come: closed, with what was drained for them out of rotation. */
export function leftOutEntries({ entries }: Pick<Ledger, 'entries'>): LedgerEntry[] {
  return [...entries.values()].filter(({ leftOut, targets }) => leftOut && targets.some(({ untouched }) => !untouched))
}
