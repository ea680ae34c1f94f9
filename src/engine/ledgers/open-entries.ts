import type { Ledger, LedgerEntry } from '../../journal/ledger.ts'
import type { JournalTarget, ReadJournal } from '../../pods/glossary.ts'
import { openJournal } from '../../pods/open-journal.ts'

/**
 * Entries of a ledger that are nobody's to settle any more are left out: closed there, or by a run that came after it, of
 * whatever workload; or another pod has had their targets since. What has become of the targets then is an operator's doing.
 */
export function openEntries(ledger: Ledger, all: Iterable<Ledger>): LedgerEntry[] {
  const midway = inTheMiddle(ledger)
  return unclosedEntries(ledger, all).filter((entry) => !isHadSince(entry, midway))
}

/**
 * What the pod's open record says was drained for it is settled: by the run that drained it, or by one that came after. Found by
 * reading: a person had said that it was in, and what a later run had drained of the same pod was taken for settled by that; it
 * stayed out of rotation, and nobody was told.
 */
export function isSettled({ pod: { uid }, stored }: Settleable, all: Iterable<Ledger>): boolean {
  return sinceDrain(stored, all)?.some(({ entries }) => entries.get(uid)?.state === 'closed') ?? false
}

/**
 * Of the run that has drained the pod, by its open record, and of those after it: what the others say is of an earlier drain.
 * Undefined where nothing is open, or somebody has deleted the ledger of that run: nobody can tell which came after it.
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

/** A run that is finished has none of its pods open, whatever their entries say. */
export function unclosedEntries({ header, entries }: Ledger, all: Iterable<Ledger>): LedgerEntry[] {
  const later = [...all].filter((other) => other.header.startedAt > header.startedAt)
  return [...entries.values()].filter(
    ({ uid, state, idle }) => state !== 'closed' && !idle && !later.some((other) => hasClosed(other, uid)),
  )
}

/**
 * Or has said at its end that nothing is drained for it: it had gone on with what those before it had left. Found by reading: that
 * counted for its own entry alone, and what an operator had out by then was put back by that of the run before.
 */
function hasClosed({ header, entries }: Ledger, uid: string): boolean {
  const entry = entries.get(uid)
  return entry !== undefined && (entry.state === 'closed' || entry.idle === true || header.finishedAt !== undefined)
}

/** Pods that have come in the middle of its run. */
export function inTheMiddle({ entries }: Pick<Ledger, 'entries'>): LedgerEntry[] {
  return [...entries.values()].filter(({ order }) => order !== undefined)
}

/**
 * One of those has had its targets since: what they had before that one's drain counts. Found by simulation (harsh seed 3527552):
 * they were put back once for each, with what an operator had changed in between.
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
