import type { PodAccount } from '../../journal/account.ts'
import { RESOLVED } from '../../journal/account.ts'
import type { LedgerEntry } from '../../journal/ledger.ts'
import type { Word } from '../../journal/word.ts'
import { isMeant, withWord } from '../../journal/word.ts'
import { baselineOf } from '../../pods/baseline.ts'
import type { Journal, PodView, ReadJournal } from '../../pods/glossary.ts'
import type { Reason } from '../../reasons/reason.ts'
import { loadBalancersOf, putRestBack, resolve, unsaidOf } from '../advice.ts'
import { entriesOf } from '../status/pod-advice.ts'
import { several } from '../../reasons/several.ts'
import type { LedgerStore } from '../ledgers/ledger-store.ts'
import { sinceDrain } from '../ledgers/open-entries.ts'
import type { Found } from './meant.ts'
import { isLeftOut, meantBy, refusal } from './meant.ts'

export interface Decision {
  /** The journal to store on the pod. */
  journal?: { pod: PodView; next: Journal; done: Reason }
  entries: { store: LedgerStore; next: LedgerEntry; done: Reason }[]
  /** The statements for the reports of the runs that have the pod on record. */
  told: Said[]
}

/** The state of a pod in a run after the statement. */
export interface Said extends Required<Pick<PodAccount, 'outcome' | 'reason' | 'out'>>, Pick<PodAccount, 'advice'> {
  store: LedgerStore
  uid: string
}

/** Decides what the statement changes in the records. Pure. `epoch` is that of the Lease of the present pod, which the caller holds. */
export function decide(found: Found, word: Word, epoch: number): Decision {
  const { name, pod, stored, entries } = found
  // The newest run comes first, since its prior state counts.
  const owns = entries
    .filter(({ entry }) => entry.uid === pod?.uid)
    .toSorted((a, b) => (a.store.ledger.header.startedAt < b.store.ledger.header.startedAt ? 1 : -1))
  const [own] = owns
  const isOpen = stored.kind === 'unreadable' || (stored.kind === 'read' && stored.journal.step !== 'closed')
  const targets = stored.kind === 'read' ? stored.journal.targets : (own?.entry.targets ?? [])
  const { live, abandoned, gone } = meantBy(word, found, {
    ...(isOpen ? { live: targets } : {}),
    // The run that left the pod to a person may not be the newest one.
    abandoned: leftToPerson(stored, owns),
    // An evicted pod still exists. The statement may be about its left-out entries.
    gone: entries.filter(({ entry }) => entry.uid !== pod?.uid || entry.leftOut === true),
  })
  if (word.traffic === 'out') {
    // A pod that has ended cannot be continued as out.
    if (live !== undefined && pod?.finished) throw refusal({ code: 'pod-has-ended', pod: name })
    if (abandoned.length > 0) throw refusal({ code: 'pod-at-other-address', pod: name })
    // "Out" would leave the entries of a gone pod out, where they may be pointed at its replacement.
    if (live === undefined && !gone.every(isLeftOut)) throw refusal({ code: 'pod-is-gone', pod: name })
  }
  const journal = pod && live ? { pod, ...nextJournal({ pod, stored, own }, word, epoch) } : undefined
  // For gone pods, the record says "out" already. With nothing open, the statement is about the left-out entries.
  const meant = word.traffic === 'in' ? [...gone, ...abandoned] : live ? [] : gone
  const changed = meant.map((one) => nextEntry(one, word, found))
  return {
    ...(journal ? { journal } : {}),
    entries: changed.map(({ store, next, done }) => ({ store, next, done })),
    told: [
      ...(journal ? owns.map(({ store }) => saidOfPod(store, journal, word)) : []),
      ...changed.flatMap(({ said }) => (journal && said.uid === pod?.uid ? [] : [said])),
    ],
  }
}

/** The entries that were left to a person. An earlier drain does not count. */
function leftToPerson(stored: ReadJournal, owns: Found['entries']): Found['entries'] {
  const since = sinceDrain(
    stored,
    owns.map(({ store }) => store.ledger),
  )
  // Without a readable record, the newest entry counts.
  const own = stored.kind === 'unreadable' ? owns.slice(0, 1) : owns.filter(({ store }) => since?.includes(store.ledger) ?? true)
  return own.filter(({ entry }) => entry.state === 'abandoned')
}

function saidOfPod(store: LedgerStore, { pod, next }: NonNullable<Decision['journal']>, word: Word): Said {
  const { traffic, loadBalancers } = word
  const reason: Reason = { code: 'said-of-pod', traffic, loadBalancers: [...loadBalancers] }
  const said = { store, uid: pod.uid, outcome: RESOLVED, reason, out: next.step !== 'closed' }
  const rest = next.step === 'restore' ? unsaidOf(next.targets) : []
  if (rest.length === 0) return said
  // The pod still needs a person for its other load balancers.
  const entries = entriesOf(rest)
  return {
    ...said,
    outcome: 'needsOperator',
    reason: several(reason, { code: 'rest-unsaid', entries }),
    advice: [{ code: 'rest-is-left', entries }, putRestBack(pod, rest)],
  }
}

/** The open record of a present pod. */
interface Live extends Required<Pick<Found, 'pod' | 'stored'>> {
  /** The newest entry of the pod itself. */
  own: Found['entries'][number] | undefined
}

function nextJournal(live: Live, word: Word, epoch: number): { next: Journal; done: Reason } {
  const { pod } = live
  const journal = openOrRebuilt(live, word)
  const said = withWord(journal, word)
  if (!said.ok) throw refusal({ code: said.code, pod: pod.name, loadBalancers: said.loadBalancers })
  // A record with a statement is no first drain intent any more, so its Lease does not matter.
  const { lease: _, ...spoken } = said.journal
  const next = { ...spoken, epoch }
  if (next.step !== 'closed') {
    return { next, done: { code: 'said-and-open', pod: pod.name, traffic: word.traffic } }
  }
  // The pod was patched and is not ready. The result tells so, since no run looks after the pod any more.
  const isUnready = journal.step === 'patched' && !pod.ready
  return { next, done: { code: 'said-and-closed', pod: pod.name, patchedAndUnready: isUnready } }
}

/** The record of the pod. An unreadable record is made anew from the ledger, which has the drained targets. */
function openOrRebuilt({ pod, stored, own }: Live, { traffic }: Word): Journal {
  if (stored.kind === 'read') return stored.journal
  if (own) {
    const { entry, store } = own
    const former = entry.before?.images ?? pod.containers.map(({ name, image }) => ({ container: name, image }))
    // The baseline has the former images: a patched pod must not look unpatched and be put back while it restarts.
    const images = new Map(former.map(({ container, image }) => [container, image]))
    const baseline = baselineOf(pod, former).map((one) => ({ ...one, image: images.get(one.name)! }))
    return { run: store.ledger.header.run, epoch: 0, attempt: 1, step: 'drain', baseline, targets: entry.targets }
  }
  if (traffic === 'in') return { run: 'resolved', epoch: 0, attempt: 1, step: 'closed', baseline: [], targets: [] }
  throw refusal({ code: 'nothing-on-record', pod: pod.name })
}

/** The next entry of a pod that is gone or elsewhere. No run continues it. */
function nextEntry(
  { store, entry }: Found['entries'][number],
  word: Word,
  { pod, name, namespace }: Found,
): Decision['entries'][number] & { said: Said } {
  const { leftOut: _, ...settledEntry } = entry
  const { uid } = entry
  const targets = entry.targets.filter((target) => !isMeant(target, word))
  const rest = targets.filter(({ untouched }) => !untouched)
  const isGone = uid !== pod?.uid || entry.leftOut === true
  const meant = entry.targets.filter((target) => isMeant(target, word))
  const reason: Reason = { code: 'said-of-entries', traffic: word.traffic, entries: entriesOf(meant) }
  return {
    store,
    next: rest.length === 0 ? { ...settledEntry, state: 'closed' } : { ...entry, targets },
    done: { code: 'said-of-former-pod', pod: entry.pod, entries: entriesOf(meant), traffic: word.traffic },
    said:
      rest.length === 0
        ? { store, uid, outcome: RESOLVED, reason, out: false }
        : {
            store,
            uid,
            outcome: 'needsOperator',
            reason: several(reason, { code: 'rest-unsaid', entries: entriesOf(rest) }),
            // The command names the gone pod, so that it does not close the record of its replacement.
            advice: [
              {
                code: 'rest-is-left-of-gone',
                entries: entriesOf(rest),
                commands: [
                  resolve(
                    { name, namespace },
                    { ...(isGone ? { gone: true } : {}), loadBalancers: loadBalancersOf(rest), traffic: 'in' },
                  ),
                ],
              },
            ],
            out: true,
          },
  }
}
