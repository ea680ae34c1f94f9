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
  /** To be stored on the pod. */
  journal?: { pod: PodView; next: Journal; done: Reason }
  entries: { store: LedgerStore; next: LedgerEntry; done: Reason }[]
  /** For the reports of the runs that have it on record. */
  told: Said[]
}

/** How a pod stands in a run, once a person has spoken. */
export interface Said extends Required<Pick<PodAccount, 'outcome' | 'reason' | 'out'>>, Pick<PodAccount, 'advice'> {
  store: LedgerStore
  uid: string
}

/** Pure: what the word means for the records as they are. `epoch`: of the Lease of the pod that is there, as who says it has it. */
export function decide(found: Found, word: Word, epoch: number): Decision {
  const { name, pod, stored, entries } = found
  // The newest first. Found by trial: of two runs the one whose id came first counted, and a pod got back the weight that it had had
  // before the earlier one.
  const owns = entries
    .filter(({ entry }) => entry.uid === pod?.uid)
    .toSorted((a, b) => (a.store.ledger.header.startedAt < b.store.ledger.header.startedAt ? 1 : -1))
  const [own] = owns
  const isOpen = stored.kind === 'unreadable' || (stored.kind === 'read' && stored.journal.step !== 'closed')
  const targets = stored.kind === 'read' ? stored.journal.targets : (own?.entry.targets ?? [])
  const { live, abandoned, gone } = meantBy(word, found, {
    ...(isOpen ? { live: targets } : {}),
    // The run that has left it to a person is not always the newest that has it on record.
    abandoned: leftToPerson(stored, owns),
    // One that was evicted is there still. Found by reading: nobody could say of it that it is to stay out.
    gone: entries.filter(({ entry }) => entry.uid !== pod?.uid || entry.leftOut === true),
  })
  if (word.traffic === 'out') {
    // Found by a breaker: it was taken of one that its kubelet had evicted, and the run that went on from there asked for the same again.
    if (live !== undefined && pod?.finished) throw refusal({ code: 'pod-has-ended', pod: name })
    if (abandoned.length > 0) throw refusal({ code: 'pod-at-other-address', pod: name })
    // Found by trial: who had pointed the entries at the pod in its place said truly that they were out, and they stayed so.
    if (live === undefined && !gone.every(isLeftOut)) throw refusal({ code: 'pod-is-gone', pod: name })
  }
  const journal = pod && live ? { pod, ...nextJournal({ pod, stored, own }, word, epoch) } : undefined
  // That they are out is what is on record of those that are gone; where nothing is open, it was asked of what was left out.
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

/** Not what an earlier drain has come to. */
function leftToPerson(stored: ReadJournal, owns: Found['entries']): Found['entries'] {
  const since = sinceDrain(
    stored,
    owns.map(({ store }) => store.ledger),
  )
  // Where its record cannot be read, that of the newest stands for it.
  const own = stored.kind === 'unreadable' ? owns.slice(0, 1) : owns.filter(({ store }) => since?.includes(store.ledger) ?? true)
  return own.filter(({ entry }) => entry.state === 'abandoned')
}

function saidOfPod(store: LedgerStore, { pod, next }: NonNullable<Decision['journal']>, word: Word): Said {
  const { traffic, loadBalancers } = word
  const reason: Reason = { code: 'said-of-pod', traffic, loadBalancers: [...loadBalancers] }
  const said = { store, uid: pod.uid, outcome: RESOLVED, reason, out: next.step !== 'closed' }
  const rest = next.step === 'restore' ? unsaidOf(next.targets) : []
  if (rest.length === 0) return said
  // Found by a breaker: by status nobody had to look any more, and the run that went on asked for the rest.
  const entries = entriesOf(rest)
  return {
    ...said,
    outcome: 'needsOperator',
    reason: several(reason, { code: 'rest-unsaid', entries }),
    advice: [{ code: 'rest-is-left', entries }, putRestBack(pod, rest)],
  }
}

/** What is open of a pod that is there. */
interface Live extends Required<Pick<Found, 'pod' | 'stored'>> {
  /** The newest entry that is its own. */
  own: Found['entries'][number] | undefined
}

function nextJournal(live: Live, word: Word, epoch: number): { next: Journal; done: Reason } {
  const { pod } = live
  const journal = openOrRebuilt(live, word)
  const said = withWord(journal, word)
  if (!said.ok) throw refusal({ code: said.code, pod: pod.name, loadBalancers: said.loadBalancers })
  // What a person has said of it is no first drain intent: whose Lease that was made under says nothing any more.
  const { lease: _, ...spoken } = said.journal
  const next = { ...spoken, epoch }
  if (next.step !== 'closed') {
    return { next, done: { code: 'said-and-open', pod: pod.name, traffic: word.traffic } }
  }
  // Found by trial: it was said of one whose image could not be pulled, and that no run had asked about; it stayed out for good.
  const isUnready = journal.step === 'patched' && !pod.ready
  return { next, done: { code: 'said-and-closed', pod: pod.name, patchedAndUnready: isUnready } }
}

/** A record that cannot be read says nothing; what was drained stands in the ledger too. */
function openOrRebuilt({ pod, stored, own }: Live, { traffic }: Word): Journal {
  if (stored.kind === 'read') return stored.journal
  if (own) {
    const { entry, store } = own
    const former = entry.before?.images ?? pod.containers.map(({ name, image }) => ({ container: name, image }))
    // Found by trial: by what it asks for now, one that was patched looked untouched, and was put back while it restarted.
    const images = new Map(former.map(({ container, image }) => [container, image]))
    const baseline = baselineOf(pod, former).map((one) => ({ ...one, image: images.get(one.name)! }))
    return { run: store.ledger.header.run, epoch: 0, attempt: 1, step: 'drain', baseline, targets: entry.targets }
  }
  if (traffic === 'in') return { run: 'resolved', epoch: 0, attempt: 1, step: 'closed', baseline: [], targets: [] }
  throw refusal({ code: 'nothing-on-record', pod: pod.name })
}

/** The pod is gone, or elsewhere: nothing goes on for it. */
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
            // Found by a breaker: it closed the record of the pod that had come in its place, too, which was half done.
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
