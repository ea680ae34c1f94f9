import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import { journalOf } from '../../journal/journal.ts'
import type { Ledger } from '../../journal/ledger.ts'
import type { PodView, ReadJournal, Term } from '../../pods/glossary.ts'
import { mayBeOpen, openJournal } from '../../pods/open-journal.ts'

/**
 * The journal of a pod as it counts. An unclaimed drain intent is late, and void, where a later owner of its Lease had found nothing open
 * on the pod (`voidBelow`). By then no earlier owner could act, so the sender never got its answer while it held the Lease, and no drain
 * left. A late intent must not restore an old prior state.
 */
export function asItCounts(uid: string, stored: ReadJournal, ledgers: readonly Ledger[]): ReadJournal {
  if (stored.kind !== 'read' || !isUnclaimedIntent(stored)) return stored
  const own = ledgers.find(({ header }) => header.run === stored.journal.run)
  if (own === undefined) return stored
  // A record from before the run of the intent does not count, since the count of the Lease can have been set back since.
  const isVoid = ledgers.some(
    ({ header, entries }) => header.startedAt >= own.header.startedAt && isBelow(stored, entries.get(uid)?.voidBelow),
  )
  return isVoid ? closed(stored) : stored
}

type Read = Extract<ReadJournal, { kind: 'read' }>

/**
 * Reports whether the intent is below the bound. Only epochs of the same Lease can be compared: a drain would otherwise be void by the
 * count of another Lease.
 */
function isBelow({ journal: { lease, epoch } }: Read, bound: Term | undefined): boolean {
  return bound !== undefined && lease === bound.lease && epoch < bound.epoch
}

/** Reports whether no owner and no person has written to the record after the intent. */
function isUnclaimedIntent({ journal: { step, origin, targets } }: Read): boolean {
  return step === 'drain' && origin === undefined && targets.every(({ said }) => said === undefined)
}

function closed({ kind, journal }: Read): ReadJournal {
  return { kind, journal: { ...journal, step: 'closed' } }
}

/** The rules by which the journals that a process reads count. */
export interface JournalCount {
  /** Makes these ledgers the ones that count. */
  know(ledgers: readonly Ledger[]): void
  /**
   * Notes that this process holds the Leases of these pods, and has seen them since. A drain intent of an earlier owner that appears later
   * on a pod with nothing open is late.
   */
  own(termOf: TermOf, seen: Iterable<Observation>): void
  /** The term below which drain intents on the pod are late, by the observations of this process. Undefined without any. */
  boundOf(uid: string): Term | undefined
  count(pod: PodView, stored: ReadJournal): ReadJournal
}

/** The term of this process for a pod, by the Lease of the pod's workload. Undefined without such a Lease. */
export type TermOf = (pod: PodView) => Term | undefined

export function createJournalCount(): JournalCount {
  let ledgers: readonly Ledger[] = []
  const bounds = new Map<string, Term>()

  return {
    know(some) {
      ledgers = some
    },
    own(termOf, seen) {
      for (const { pod, stored } of seen) {
        const term = termOf(pod)
        if (term !== undefined && !mayBeOpen(stored)) bounds.set(pod.uid, term)
      }
    },
    boundOf: (uid) => bounds.get(uid),
    count({ uid }, stored) {
      const isLate = stored.kind === 'read' && isUnclaimedIntent(stored) && isBelow(stored, bounds.get(uid))
      return isLate ? closed(stored) : asItCounts(uid, stored, ledgers)
    },
  }
}

/** The runs that open journals of these pods name. Their ledgers decide how the journals count. */
export function namedByJournals(pods: Iterable<{ pod: PodView }>): ReadonlySet<string> {
  return new Set(Array.from(pods).flatMap(({ pod }) => openJournal(journalOf(pod))?.run ?? []))
}
