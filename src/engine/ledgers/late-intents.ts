import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import { journalOf } from '../../journal/journal.ts'
import type { Ledger } from '../../journal/ledger.ts'
import type { PodView, ReadJournal } from '../../pods/glossary.ts'
import { mayBeOpen, openJournal } from '../../pods/open-journal.ts'

/**
 * The journal of a pod as it counts. A drain intent that nobody has claimed has come late where its run is over, or where an owner after
 * its sender had found nothing open on the pod (`voidBelow`). The sender has never had the answer while the Lease was its own, and without
 * that no drain leaves. So nothing was drained by it, and what it says of the prior state is of then.
 *
 * Found by trial: it arrived when the run was over, and the next one put back what an operator had out by that time.
 */
export function asItCounts(uid: string, stored: ReadJournal, ledgers: readonly Ledger[]): ReadJournal {
  if (stored.kind !== 'read' || !isUnclaimedIntent(stored)) return stored
  const { run, epoch } = stored.journal
  const own = ledgers.find(({ header }) => header.run === run)?.header
  if (own === undefined) return stored
  // Those before it say nothing of it: where somebody has deleted the Lease, its epochs may have begun anew since.
  const isVoid = ledgers.some(
    ({ header, entries }) => header.startedAt >= own.startedAt && epoch < (entries.get(uid)?.voidBelow ?? 0),
  )
  return isVoid || own.finishedAt !== undefined ? closed(stored) : stored
}

type Read = Extract<ReadJournal, { kind: 'read' }>

function isUnclaimedIntent({ journal: { step, origin } }: Read): boolean {
  return step === 'drain' && origin === undefined
}

function closed({ kind, journal }: Read): ReadJournal {
  return { kind, journal: { ...journal, step: 'closed' } }
}

/** How the journals count that a process reads. */
export interface JournalCount {
  /** What these ledgers say counts from now on. */
  know(ledgers: readonly Ledger[]): void
  /**
   * This process has its Leases, and has seen these pods since: on those with nothing open, a drain intent of an earlier owner that is
   * seen from now on comes late. Found by reading: it came while its pod waited for its turn, or when the process was on its way out, and
   * was taken for a drain; what an operator had out by then was put back.
   */
  own(epochOf: (pod: PodView) => number, seen: Iterable<Observation>): void
  count(pod: PodView, stored: ReadJournal): ReadJournal
}

export function createJournalCount(): JournalCount {
  let ledgers: readonly Ledger[] = []
  let ownEpoch = (_pod: PodView): number => Infinity
  const quiet = new Set<string>()
  return {
    know(some) {
      ledgers = some
    },
    own(epochOf, seen) {
      ownEpoch = epochOf
      for (const { pod, stored } of seen) if (!mayBeOpen(stored)) quiet.add(pod.uid)
    },
    count(pod, stored) {
      // What this process writes counts as it stands.
      if (stored.kind !== 'read' || stored.journal.epoch >= ownEpoch(pod)) return stored
      return quiet.has(pod.uid) && isUnclaimedIntent(stored) ? closed(stored) : asItCounts(pod.uid, stored, ledgers)
    },
  }
}

/** Runs whose ledgers say how journals of these pods count. */
export function namedByJournals(pods: Iterable<{ pod: PodView }>): ReadonlySet<string> {
  return new Set(Array.from(pods).flatMap(({ pod }) => openJournal(journalOf(pod))?.run ?? []))
}
