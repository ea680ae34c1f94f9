import type { PodAccount } from '../../journal/account.ts'
import { RESOLVED } from '../../journal/account.ts'
import type { LedgerEntry } from '../../journal/ledger.ts'
import type { Word } from '../../journal/word.ts'
import { isMeant, withWord } from '../../journal/word.ts'
import { baselineOf } from '../../pods/baseline.ts'
import type { Journal, PodView, ReadJournal } from '../../pods/glossary.ts'
import { loadBalancerFlags, resolveCommand, restInstructions, unsaidOf } from '../instructions.ts'
import type { LedgerStore } from '../ledgers/ledger-store.ts'
import { sinceDrain } from '../ledgers/open-entries.ts'
import type { Found } from './meant.ts'
import { isLeftOut, meantBy, namesOf, refusal } from './meant.ts'

export interface Decision {
  /** To be stored on the pod. */
  journal?: { pod: PodView; next: Journal; message: string }
  entries: { store: LedgerStore; next: LedgerEntry; message: string }[]
  /** For the reports of the runs that have it on record. */
  told: Said[]
}

/** How a pod stands in a run, once a person has spoken. */
export interface Said extends Required<Pick<PodAccount, 'outcome' | 'reason' | 'out'>>, Pick<PodAccount, 'instructions'> {
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
    if (live !== undefined && pod?.finished)
      throw refusal(
        `pod/${name} has ended for good, and is not put back any more: point its entries at the pod in its place, leave them drained, ` +
          'and run the same command again; or, once each is as it should be, put back, removed or left out for good, say --traffic in',
      )
    if (abandoned.length > 0)
      throw refusal(
        `pod/${name} has another address than its entries: point them at it and run the same command again, or say that it is in once it is`,
      )
    // Found by trial: who had pointed the entries at the pod in its place said truly that they were out, and they stayed so.
    if (live === undefined && !gone.every(isLeftOut))
      throw refusal(
        `pod/${name} is gone, and a run puts its entries back for a ready pod at their address: point them at the pod in its ` +
          'place, leave them drained, and run the same command again; or, once each is as it should be, put back, removed or ' +
          'left out for good, say --traffic in',
      )
  }
  const journal = pod && live ? { pod, ...nextJournal({ pod, stored, own }, word, epoch) } : undefined
  // That they are out is what is on record of those that are gone; where nothing is open, it was asked of what was left out.
  const meant = word.traffic === 'in' ? [...gone, ...abandoned] : live ? [] : gone
  const changed = meant.map((one) => nextEntry(one, word, found))
  return {
    ...(journal ? { journal } : {}),
    entries: changed.map(({ store, next, message }) => ({ store, next, message })),
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
  const where = word.loadBalancers.length === 0 ? '' : ` in ${word.loadBalancers.join(', ')}`
  const reason = `a person has said that it is ${word.traffic === 'in' ? 'in' : 'out of'} rotation${where}`
  const said = { store, uid: pod.uid, outcome: RESOLVED, reason, out: next.step !== 'closed' }
  const rest = next.step === 'restore' ? unsaidOf(next.targets) : []
  if (rest.length === 0) return said
  // Found by a breaker: by status nobody had to look any more, and the run that went on asked for the rest.
  const left = `${namesOf(rest)} is left`
  const instructions = [`${left}: where it can be read, the same command again goes on with it.`, ...restInstructions(pod, rest)]
  return { ...said, outcome: 'needsOperator', reason: `${reason}; ${left}`, instructions: instructions.join('\n') }
}

/** What is open of a pod that is there. */
interface Live extends Required<Pick<Found, 'pod' | 'stored'>> {
  /** The newest entry that is its own. */
  own: Found['entries'][number] | undefined
}

function nextJournal(live: Live, word: Word, epoch: number): { next: Journal; message: string } {
  const { pod } = live
  const journal = openOrRebuilt(live, word)
  const said = withWord(journal, word)
  if (!said.ok) throw refusal(`pod/${pod.name}: ${said.reason}`)
  // What a person has said of it is no first drain intent: whose Lease that was made under says nothing any more.
  const { lease: _, ...spoken } = said.journal
  const next = { ...spoken, epoch }
  if (next.step !== 'closed') {
    const where = word.traffic === 'in' ? 'in' : 'out of'
    return { next, message: `pod/${pod.name} is ${where} rotation, as you say: the next run goes on from there` }
  }
  const closed = `pod/${pod.name} is in rotation, as you say: its record is closed`
  // Found by trial: it was said of one whose image could not be pulled, and that no run had asked about; it stayed out for good.
  const isUnready = journal.step === 'patched' && !pod.ready
  return { next, message: isUnready ? `${closed}; it is patched and not ready, and no run puts it back any more` : closed }
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
  throw refusal(
    `pod/${pod.name}: its journal cannot be read, and no ledger says what was drained for it: bring it into rotation by hand, and say that it is in`,
  )
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
  const settled = namesOf(entry.targets.filter((target) => isMeant(target, word)))
  const rest = targets.filter(({ untouched }) => !untouched)
  const isIn = word.traffic === 'in'
  const isGone = uid !== pod?.uid || entry.leftOut === true
  const reason = `a person has said that ${settled} ${isIn ? 'is as it should be' : 'is to stay out of rotation'}`
  return {
    store,
    next: rest.length === 0 ? { ...settledEntry, state: 'closed' } : { ...entry, targets },
    message: isIn
      ? `${settled} of a pod/${entry.pod} that was before is as it should be, as you say: no run asks for it any more`
      : `${settled} of a pod/${entry.pod} that was before stays out of rotation, as you say: no run puts it back, or asks for it any more`,
    said:
      rest.length === 0
        ? { store, uid, outcome: RESOLVED, reason, out: false }
        : {
            store,
            uid,
            outcome: 'needsOperator',
            reason: `${reason}; ${namesOf(rest)} is left`,
            // Found by a breaker: it closed the record of the pod that had come in its place, too, which was half done.
            instructions: `${namesOf(rest)} is left: once it is as it should be, say so:\n${resolveCommand({ name, namespace }, `${isGone ? '--gone ' : ''}${loadBalancerFlags(rest)} --traffic in`)}`,
            out: true,
          },
  }
}
