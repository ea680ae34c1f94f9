import type { Journal, JournalTarget } from '../pods/glossary.ts'

/** The statement of an operator about the traffic of a pod, in all its load balancers or in the named ones. */
export interface Word {
  traffic: 'in' | 'out'
  /** An empty list means all load balancers. */
  loadBalancers: readonly string[]
  /** `live`: only the pod that exists; `gone`: only the remains of pods of its name that are gone; absent: whichever is open. */
  of?: 'live' | 'gone'
}

/** The record with the statement in it, or the reason why the statement does not fit. */
export type WithWord =
  | { ok: true; journal: Journal }
  | { ok: false; code: 'say-of-rest-too' | 'said-in-before' | 'say-first-where-in'; loadBalancers: string[] }

/**
 * - `in`: the pod is back in rotation, and no work is left. A part of the load balancers is accepted only where nothing but the
 *   restore is left: a pod that is in one load balancer is never patched.
 * - `out`: the pod is out of rotation, and the run continues without a read-back. After a restore has begun, a new attempt starts
 *   for all load balancers, since one that remembers operations would take the second restore for the first.
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
  // A run continues as for a pod that is out, and may patch the pod while these load balancers still send it requests.
  if (among('in').length > 0) return { ok: false, code: 'said-in-before', loadBalancers: among('in') }
  // The attempt that ends here has put these load balancers back already, and the new attempt would put them back once more.
  if (among(undefined).length > 0) return { ok: false, code: 'say-first-where-in', loadBalancers: among(undefined) }
  const step = journal.generation === undefined ? 'drain' : 'patched'
  return { ok: true, journal: { ...journal, targets, step, attempt: journal.attempt + 1 } }
}

export function isMeant({ loadBalancer }: Pick<JournalTarget, 'loadBalancer'>, { loadBalancers }: Word): boolean {
  return loadBalancers.length === 0 || loadBalancers.includes(loadBalancer)
}
