import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import { journalOf } from '../../journal/journal.ts'
import type { Ledger, LedgerEntry } from '../../journal/ledger.ts'
import type { PodView, ReadJournal } from '../../pods/glossary.ts'
import { mayBeOpen, openJournal } from '../../pods/open-journal.ts'

/**
 * The journal of a pod as it counts. A drain intent that nobody has claimed has come late where its run is over, or has told that nothing
 * is drained for the pod (`idle`); or where an owner after its sender had found nothing open on the pod (`voidBelow`). The sender has
 * never had the answer while the Lease was its own, and without that no drain leaves. So nothing was drained by it, and what it says of
 * the prior state is of then.
 *
 * Found by trial: it arrived when the run was over, and the next one put back what an operator had out by that time.
 */
export function asItCounts(uid: string, stored: ReadJournal, ledgers: readonly Ledger[]): ReadJournal {
  if (stored.kind !== 'read' || !isUnclaimedIntent(stored)) return stored
  const { run, epoch } = stored.journal
  const own = ledgers.find(({ header }) => header.run === run)
  if (own === undefined) return stored
  const entry = own.entries.get(uid)
  if (own.header.finishedAt !== undefined || entry?.idle) return closed(stored)
  // Epochs are those of one Lease, that of the pod's owner. Found by trial: a pod was nobody's for a while, and had a run and a Lease of
  // its own then, by whose count the drain of its workload counted for nothing; it stayed out. Nor do records from before the intent's
  // run tell: where somebody has deleted the Lease, its count has begun anew since.
  const isVoid = ledgers.some(({ header, entries }) => {
    const found = entries.get(uid)
    return found && isOfOneOwner(found, entry) && header.startedAt >= own.header.startedAt && epoch < (found.voidBelow ?? 0)
  })
  return isVoid ? closed(stored) : stored
}

type Read = Extract<ReadJournal, { kind: 'read' }>
type Owned = Pick<LedgerEntry, 'owner'>

function isOfOneOwner(one: Owned, other: Owned | undefined): boolean {
  return other !== undefined && one.owner?.uid === other.owner?.uid
}

/** What a person has said of it is no first one, whoever has written that down. */
function isUnclaimedIntent({ journal: { step, origin, targets } }: Read): boolean {
  return step === 'drain' && origin === undefined && targets.every(({ said }) => said === undefined)
}

function closed({ kind, journal }: Read): ReadJournal {
  return { kind, journal: { ...journal, step: 'closed' } }
}

/** How the journals count that a process reads. */
export interface JournalCount {
  /** What these ledgers say counts from now on. */
  know(ledgers: readonly Ledger[]): void
  /**
   * This process has the Leases of these pods, has waited until no owner before it could act any more, and has seen them since: on those
   * with nothing open, a drain intent of such an owner that is seen from now on comes late. Found by reading: it came while its pod
   * waited for its turn, or when the process was on its way out, and was taken for a drain; what an operator had out by then was put back.
   */
  own(epochOf: (pod: PodView) => number, seen: Iterable<Observation>): void
  /** It was seen so, as a pod of the owner that this entry names. */
  wasQuiet(entry: Owned & Pick<LedgerEntry, 'uid'>): boolean
  count(pod: PodView, stored: ReadJournal): ReadJournal
}

export function createJournalCount(): JournalCount {
  let ledgers: readonly Ledger[] = []
  let ownEpoch = (_pod: PodView): number => Infinity
  const quiet = new Map<string, Owned>()

  function wasQuiet(entry: Owned & Pick<LedgerEntry, 'uid'>): boolean {
    const seen = quiet.get(entry.uid)
    return seen !== undefined && isOfOneOwner(seen, entry)
  }

  /** Of one that came meanwhile, as for a pod that was nobody's for a while, it has another Lease than this process. */
  function isOfEarlierOwner({ uid }: PodView, { run }: Read['journal']): boolean {
    return ledgers.some(({ header, entries }) => {
      const entry = entries.get(uid)
      return header.run === run && entry !== undefined && wasQuiet(entry)
    })
  }

  return {
    know(some) {
      ledgers = some
    },
    own(epochOf, seen) {
      ownEpoch = epochOf
      for (const { pod, stored } of seen) if (!mayBeOpen(stored)) quiet.set(pod.uid, pod)
    },
    wasQuiet,
    count(pod, stored) {
      // What this process writes counts as it stands.
      if (stored.kind !== 'read' || stored.journal.epoch >= ownEpoch(pod)) return stored
      const isLate = isUnclaimedIntent(stored) && isOfEarlierOwner(pod, stored.journal)
      return isLate ? closed(stored) : asItCounts(pod.uid, stored, ledgers)
    },
  }
}

/** Runs whose ledgers say how journals of these pods count. */
export function namedByJournals(pods: Iterable<{ pod: PodView }>): ReadonlySet<string> {
  return new Set(Array.from(pods).flatMap(({ pod }) => openJournal(journalOf(pod))?.run ?? []))
}
