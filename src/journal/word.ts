import type { Journal, JournalTarget } from '../pods/glossary.ts'

/** What a person has seen of the traffic of a pod, in all its load balancers or in those that are named. */
export interface Word {
  traffic: 'in' | 'out'
  /** Empty: all. */
  loadBalancers: readonly string[]
  /** Of the pod that is there alone, or of what is left of those of its name that are gone; absent: of whichever something is open. */
  of?: 'live' | 'gone'
}

/** The record with a person's word in it, or why that cannot be. */
export type WithWord =
  | { ok: true; journal: Journal }
  | { ok: false; code: 'say-of-rest-too' | 'said-in-before' | 'say-first-where-in'; loadBalancers: string[] }

/**
 * - `in`: it is back as it should be; nothing is left to do for it. For a part of the load balancers only where all that
 *   is left is to put the pod back: a pod that is in one of them is never patched.
 * - `out`: it is out of rotation. The run goes on from there without a read-back; where a restore was begun, as a new
 *   attempt, since a load balancer that remembers operations would take its second restore for the first. Then of all.
 */
export function withWord(journal: Journal, word: Word): WithWord {
  const isSaid = (target: JournalTarget): boolean => isMeant(target, word) && !target.untouched
  const targets = journal.targets.map((target) => (isSaid(target) ? { ...target, said: word.traffic } : target))
  const rest = journal.targets.filter((target) => !isMeant(target, word) && !target.untouched)
  const among = (said: JournalTarget['said']): string[] =>
    rest.flatMap((target) => (target.said === said ? [target.loadBalancer] : []))
  if (word.traffic === 'in') {
    if (rest.every(({ said }) => said === 'in')) return { ok: true, journal: { ...journal, step: 'closed' } }
    if (journal.step === 'restore') return { ok: true, journal: { ...journal, targets } }
    return { ok: false, code: 'say-of-rest-too', loadBalancers: rest.map(({ loadBalancer }) => loadBalancer) }
  }
  if (journal.step !== 'restore') return { ok: true, journal: { ...journal, targets } }
  // Found by simulation: for the rest the run went on as for a pod that is out, and with other images it was patched while it took
  // requests there.
  if (among('in').length > 0) return { ok: false, code: 'said-in-before', loadBalancers: among('in') }
  // Found by simulation: they were put back by the attempt that ends with this, and were put back once more.
  if (among(undefined).length > 0) return { ok: false, code: 'say-first-where-in', loadBalancers: among(undefined) }
  const step = journal.generation === undefined ? 'drain' : 'patched'
  return { ok: true, journal: { ...journal, targets, step, attempt: journal.attempt + 1 } }
}

export function isMeant({ loadBalancer }: Pick<JournalTarget, 'loadBalancer'>, { loadBalancers }: Word): boolean {
  return loadBalancers.length === 0 || loadBalancers.includes(loadBalancer)
}
