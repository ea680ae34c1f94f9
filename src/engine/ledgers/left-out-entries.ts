import type { Ledger, LedgerEntry } from '../../journal/ledger.ts'

/** The closed entries of gone pods without an expected replacement, whose targets stay out of rotation. */
export function leftOutEntries({ entries }: Pick<Ledger, 'entries'>): LedgerEntry[] {
  return [...entries.values()].filter(({ leftOut, targets }) => leftOut && targets.some(({ untouched }) => !untouched))
}
