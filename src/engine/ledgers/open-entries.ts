import type { Ledger, LedgerEntry } from '../../journal/ledger.ts'
import type { JournalTarget, ReadJournal } from '../../pods/glossary.ts'
import { openJournal } from '../../pods/open-journal.ts'

/**
 * The entries of a ledger that a run still has to settle. Closed entries are left out, whether this ledger or a later run closed them. So
 * are entries whose targets another pod has had since: later changes to those targets are an operator's.
 */
export function openEntries(ledger: Ledger, all: Iterable<Ledger>): LedgerEntry[] {
  const midway = inTheMiddle(ledger)
  return unclosedEntries(ledger, all).filter((entry) => !isHadSince(entry, midway))
}

/**
 * Reports whether the drain of the pod's open record is settled, by the run that drained the pod or by a later run. An earlier settlement
 * does not count: the pod was drained again after it.
 */
export function isSettled({ pod: { uid }, stored }: Settleable, all: Iterable<Ledger>): boolean {
  return sinceDrain(stored, all)?.some(({ entries }) => entries.get(uid)?.state === 'closed') ?? false
}

/**
 * The ledgers of the run that drained the pod, and of later runs. Undefined where no record is open, or where the ledger of that run was
 * deleted, so that the order of the runs is unknown.
 */
export function sinceDrain(stored: ReadJournal, all: Iterable<Ledger>): Ledger[] | undefined {
  const journal = openJournal(stored)
  const ledgers = [...all]
  const drainer = ledgers.find(({ header: { run } }) => run === (journal?.origin ?? journal?.run))?.header
  return drainer && ledgers.filter(({ header }) => header.startedAt >= drainer.startedAt)
}

interface Settleable {
  pod: { uid: string }
  stored: ReadJournal
}

/** The entries that are not closed. A finished run has closed all its entries, whatever their state says. */
export function unclosedEntries({ header, entries }: Ledger, all: Iterable<Ledger>): LedgerEntry[] {
  const later = [...all].filter((other) => other.header.startedAt > header.startedAt)
  return [...entries.values()].filter(
    ({ uid, state, idle }) => state !== 'closed' && !idle && !later.some((other) => hasClosed(other, uid)),
  )
}

/**
 * Reports whether the later run closed the entry, or noted at its end that nothing is drained for the pod (`idle`). Such a run continued
 * the work of earlier runs, so their open entries are closed too.
 */
function hasClosed({ header, entries }: Ledger, uid: string): boolean {
  const entry = entries.get(uid)
  return entry !== undefined && (entry.state === 'closed' || entry.idle === true || header.finishedAt !== undefined)
}

/** The entries of pods that came in the middle of the run. */
export function inTheMiddle({ entries }: Pick<Ledger, 'entries'>): LedgerEntry[] {
  return [...entries.values()].filter(({ order }) => order !== undefined)
}

/**
 * Reports whether later pods have had all drained targets of the entry. The prior state before the drain of the last pod counts, so that
 * targets are not restored once for each pod.
 */
export function isHadSince({ order: own = 0, targets }: LedgerEntry, midway: readonly LedgerEntry[]): boolean {
  const later = midway.filter(({ order = 0 }) => order > own)
  const isOf = (target: JournalTarget, other: JournalTarget): boolean =>
    !other.untouched &&
    other.target === target.target &&
    other.scope === target.scope &&
    other.loadBalancer === target.loadBalancer
  const drained = targets.filter(({ untouched }) => !untouched)
  const isHad = (target: JournalTarget): boolean => later.some((entry) => entry.targets.some((other) => isOf(target, other)))
  return drained.length > 0 && drained.every(isHad)
}
