import { journalOf } from '../../journal/journal.ts'
import type { Ledger } from '../../journal/ledger.ts'
import type { PodView, ReadJournal } from '../../pods/glossary.ts'
import { openJournal } from '../../pods/open-journal.ts'

/**
 * The journal of a pod as it counts. A drain intent has come late where its run is over, or has told at the end of a process that
 * nothing is drained for the pod: that is taken back before any drain. Its sender was killed, and has never had the answer, without which
 * no drain leaves. So nothing was drained by it, and what it says of the prior state is of then.
 *
 * Found by trial: it arrived when the run was over, and the next one put back what an operator had out by that time.
 */
export function asItCounts(uid: string, stored: ReadJournal, ledgers: Iterable<Ledger>): ReadJournal {
  if (stored.kind !== 'read' || stored.journal.step !== 'drain' || stored.journal.origin !== undefined) return stored
  for (const { header, entries } of ledgers) {
    if (header.run !== stored.journal.run) continue
    if (header.finishedAt === undefined && entries.get(uid)?.idle !== true) return stored
    return { kind: 'read', journal: { ...stored.journal, step: 'closed' } }
  }
  return stored
}

/** Runs whose ledgers say how journals of these pods count. */
export function namedByJournals(pods: Iterable<{ pod: PodView }>): ReadonlySet<string> {
  return new Set(Array.from(pods).flatMap(({ pod }) => openJournal(journalOf(pod))?.run ?? []))
}
