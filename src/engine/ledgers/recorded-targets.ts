import type { Ledger } from '../../journal/ledger.ts'
import type { JournalTarget } from '../../pods/glossary.ts'

/** The targets of a pod in the newest open run, for a pod whose journal cannot be read. Empty where no open run has the pod. */
export function recordedTargets(uid: string, ledgers: readonly Ledger[]): JournalTarget[] {
  const open = ledgers.filter(({ header, entries }) => header.finishedAt === undefined && entries.has(uid))
  const newest = open.toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? 1 : -1)).at(0)
  return newest?.entries.get(uid)?.targets ?? []
}
