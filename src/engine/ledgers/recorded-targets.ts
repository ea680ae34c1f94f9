import type { Ledger } from '../../journal/ledger.ts'
import type { JournalTarget } from '../../pods/glossary.ts'

/** What the newest run that is open has on record of a pod's targets, where its journal cannot say it; none where no such run has. */
export function recordedTargets(uid: string, ledgers: readonly Ledger[]): JournalTarget[] {
  const open = ledgers.filter(({ header, entries }) => header.finishedAt === undefined && entries.has(uid))
  const newest = open.toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? 1 : -1)).at(0)
  return newest?.entries.get(uid)?.targets ?? []
}
