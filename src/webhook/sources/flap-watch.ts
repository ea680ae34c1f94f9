import type { RulesProblem } from './rules-source.ts'

export interface FlapWatch {
  /** Takes a document that has just come into force. */
  note(document: { readonly version: string; readonly hash: string }): void
  /** Undefined where the source shows one document, or goes back to a former one no more than once. */
  problem(): Extract<RulesProblem, { code: 'rules-flap' }> | undefined
}

/** A return counts for this time. */
export const FLAP_WITHIN_MS = 600_000
/** To take a change back is one return. */
const FEWEST_RETURNS = 2
const MOST_NOTED = 100
const MOST_NAMED = 5

/** Finds a source that shows some documents in turn, such as two servers behind one address with different documents. */
export function createFlapWatch(now: () => number): FlapWatch {
  let noted: { version: string; hash: string; at: number; isReturn: boolean }[] = []

  const recent = (): typeof noted => noted.filter(({ at }) => now() - at < FLAP_WITHIN_MS)

  return {
    note({ version, hash }) {
      noted = recent().slice(1 - MOST_NOTED)
      noted.push({ version, hash, at: now(), isReturn: noted.some((one) => one.hash === hash) })
    },
    problem() {
      const returns = recent().filter(({ isReturn }) => isReturn)
      if (returns.length < FEWEST_RETURNS) return undefined
      const shown = new Map(returns.map(({ hash, version }) => [hash, version]))
      const documents = [...shown].slice(0, MOST_NAMED).map(([hash, version]) => ({ hash: hash.slice(0, 12), version }))
      return { code: 'rules-flap', withinMs: FLAP_WITHIN_MS, documents }
    },
  }
}
