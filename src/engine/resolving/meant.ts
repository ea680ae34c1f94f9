import type { LoadBalancerEntry } from '../../reasons/fields.ts'
import type { Reason } from '../../reasons/reason.ts'
import { entriesOf } from '../status/pod-advice.ts'
import type { LedgerEntry } from '../../journal/ledger.ts'
import type { Word } from '../../journal/word.ts'
import { isMeant } from '../../journal/word.ts'
import type { JournalTarget, PodView, ReadJournal } from '../../pods/glossary.ts'
import { RunError } from '../errors.ts'
import type { LedgerStore } from '../ledgers/ledger-store.ts'

/** The records under the name of a pod. */
export interface Found {
  namespace: string
  name: string
  /** The present pod. Absent where no pod has the name. */
  pod?: PodView
  /** The journal of the pod, as it counts. */
  stored: ReadJournal
  /** The open or left-out entries in ledgers of unfinished runs, of the present pod and of earlier pods with its name. */
  entries: { store: LedgerStore; entry: LedgerEntry }[]
}

/** The open records under the name of a pod. */
export interface Open {
  /** The open targets of the present pod, by its own record. Absent where the record is closed. */
  live?: readonly JournalTarget[]
  /** The entries of the present pod that mean another address and were left to a person. */
  abandoned: Found['entries']
  /** The entries of gone pods with that name, and the left-out ones. */
  gone: Found['entries']
}

/**
 * The records that the statement is about. Throws a RunError of kind `preflight` where there are none, or where the statement may mean the
 * present pod as well as a gone one: the record of a half-done pod must not be closed by a statement about its predecessor.
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

/** Reports whether the entry was left out. No run restores it; it is told until a person states that it is right. */
export function isLeftOut({ entry }: Found['entries'][number]): boolean {
  return entry.leftOut === true
}

/** Throws where the statement is ambiguous. "Out" can only mean left-out entries and the present pod. */
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
