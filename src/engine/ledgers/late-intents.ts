import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import { journalOf } from '../../journal/journal.ts'
import type { Ledger } from '../../journal/ledger.ts'
import type { PodView, ReadJournal, Term } from '../../pods/glossary.ts'
import { mayBeOpen, openJournal } from '../../pods/open-journal.ts'

/**
 * The journal of a pod as it counts. A drain intent that nobody has claimed has come late where a later owner of its Lease had found
 * nothing open on the pod (`voidBelow`): no owner before that one could act any more by then. So its sender has never had the answer
 * while the Lease was its own, and without that no drain leaves. Nothing was drained by it, and what it says of the prior state is of
 * then.
 *
 * Found by trial: it arrived when the run was over, and the next one put back what an operator had out by that time.
 */
export function asItCounts(uid: string, stored: ReadJournal, ledgers: readonly Ledger[]): ReadJournal {
  if (stored.kind !== 'read' || !isUnclaimedIntent(stored)) return stored
  const own = ledgers.find(({ header }) => header.run === stored.journal.run)
  if (own === undefined) return stored
  // Records from before the intent's run say nothing of it: somebody may have set the count of the Lease back since.
  const isVoid = ledgers.some(
    ({ header, entries }) => header.startedAt >= own.header.startedAt && isBelow(stored, entries.get(uid)?.voidBelow),
  )
  return isVoid ? closed(stored) : stored
}

type Read = Extract<ReadJournal, { kind: 'read' }>

/**
 * Epochs are those of one Lease. Found by a reviewer, in four ways: a drain that was made counted for nothing by the count of another,
 * as that of a pod which was nobody's for a while, or by that of one which somebody had deleted; the pod stayed out, and the run said done.
 */
function isBelow({ journal: { lease, epoch } }: Read, bound: Term | undefined): boolean {
  return bound !== undefined && lease === bound.lease && epoch < bound.epoch
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
   * This process has the Leases of these pods, and has seen them since: on those with nothing open, a drain intent of an earlier owner
   * that is seen from now on comes late. Found by reading: it came while its pod waited for its turn, or when the process was on its way
   * out, and was taken for a drain; what an operator had out by then was put back.
   */
  own(termOf: TermOf, seen: Iterable<Observation>): void
  /** Below which drain intents come late, by what this process has seen; undefined where it has not. */
  boundOf(uid: string): Term | undefined
  count(pod: PodView, stored: ReadJournal): ReadJournal
}

/** Of this process, by the Lease of the pod's workload; undefined where it has none that is the pod's. */
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

/** Runs whose ledgers say how journals of these pods count. */
export function namedByJournals(pods: Iterable<{ pod: PodView }>): ReadonlySet<string> {
  return new Set(Array.from(pods).flatMap(({ pod }) => openJournal(journalOf(pod))?.run ?? []))
}
