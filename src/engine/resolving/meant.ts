import type { LoadBalancerEntry } from '../../reasons/fields.ts'
import type { Reason } from '../../reasons/reason.ts'
import { entriesOf } from '../status/pod-advice.ts'
import type { LedgerEntry } from '../../journal/ledger.ts'
import type { Word } from '../../journal/word.ts'
import { isMeant } from '../../journal/word.ts'
import type { JournalTarget, PodView, ReadJournal } from '../../pods/glossary.ts'
import { RunError } from '../errors.ts'
import type { LedgerStore } from '../ledgers/ledger-store.ts'

/** What is on record of a pod, under its name. */
export interface Found {
  namespace: string
  name: string
  /** Absent where none of that name is there. */
  pod?: PodView
  /** Its journal, as it counts. */
  stored: ReadJournal
  /** In ledgers of runs that are not finished, open or left out: of the pod itself, and of those that had its name before. */
  entries: { store: LedgerStore; entry: LedgerEntry }[]
}

/** What is open under the name of a pod. */
export interface Open {
  /** Of the pod that is there, by its own record: the targets that are open for it. Absent where that is closed. */
  live?: readonly JournalTarget[]
  /** Of the same: its entries, which mean another address and were left to a person. */
  abandoned: Found['entries']
  /** Of those of its name that are gone, and what was left out of rotation. */
  gone: Found['entries']
}

/**
 * What of all that the word is about. Throws a RunError of kind `preflight` where that is nothing, and where it may be about a pod that is
 * there as well as about one that is gone. Found by a breaker: what was printed for the rest of one that was gone closed the record of
 * the pod that had come in its place under its name, and was half done.
 */
export function meantBy(word: Word, { name, namespace, pod }: Pick<Found, 'name' | 'namespace' | 'pod'>, open: Open): Open {
  const some: Open = {
    ...(open.live && word.of !== 'gone' ? { live: open.live } : {}),
    abandoned: word.of === 'gone' ? [] : open.abandoned,
    gone: word.of === 'live' ? open.gone.filter(({ entry }) => entry.uid === pod?.uid) : open.gone,
  }
  if (some.live === undefined && some.abandoned.length + some.gone.length === 0)
    throw refusal({ code: 'nothing-to-resolve', pod: name, namespace, of: word.of ?? 'any' })
  assertKnown(word, name, targetsOf(some))
  const isNamed = (targets: readonly JournalTarget[]): boolean => targets.some((target) => isMeant(target, word))
  const isAbout = (targets: readonly JournalTarget[]): boolean => word.loadBalancers.length === 0 || isNamed(targets)
  const meant: Open = {
    ...(some.live && isAbout(some.live) ? { live: some.live } : {}),
    abandoned: some.abandoned.filter(({ entry }) => isAbout(entry.targets)),
    gone: some.gone.filter(({ entry }) => isAbout(entry.targets)),
  }
  if (word.of === undefined) assertOne(word, { name, ...(pod && { uid: pod.uid }) }, meant)
  return meant
}

/** No run puts it back: it is told of until a person has said that it is as it should be. */
export function isLeftOut({ entry }: Found['entries'][number]): boolean {
  return entry.leftOut === true
}

/** That it is out is taken of what was left out, and else of the pod that is there alone. */
function assertOne({ traffic }: Word, { name, uid }: { name: string; uid?: string }, { live, abandoned, gone }: Open): void {
  const others = gone.filter((one) => one.entry.uid !== uid && (traffic === 'in' || isLeftOut(one)))
  if ((live === undefined && abandoned.length === 0) || others.length === 0) return
  const named = (targets: readonly JournalTarget[]): LoadBalancerEntry[] =>
    entriesOf(targets.filter(({ untouched }) => !untouched))
  throw refusal({
    code: 'two-pods-of-name',
    pod: name,
    live: named(live ?? targetsOf({ abandoned, gone: [] })),
    gone: named(targetsOf({ abandoned: [], gone: others })),
  })
}

function targetsOf({ live = [], abandoned, gone }: Open): JournalTarget[] {
  return [...live, ...[...abandoned, ...gone].flatMap(({ entry }) => entry.targets)]
}

function assertKnown({ loadBalancers }: Word, pod: string, targets: readonly JournalTarget[]): void {
  const known = new Set(targets.map(({ loadBalancer }) => loadBalancer))
  const wrong = loadBalancers.filter((name) => !known.has(name))
  if (wrong.length === 0) return
  throw refusal({ code: 'not-in-named-load-balancers', pod, known: [...known], named: wrong })
}

export function refusal(reason: Reason): RunError {
  return new RunError('preflight', reason)
}
