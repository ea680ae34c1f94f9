import { runSeeds } from '../seeds.ts'
import type { Mutation } from './mutation.ts'

/** The first seed that shows a mutation. */
export interface Found {
  seed: number
  invariant: string
  message: string
}

/** So many seeds are run at a time: few at first, since most mutations are found by one of the first. */
const FEWEST = 16
const MOST_AT_ONCE = 512

/** Runs so many seeds; undefined where none of them shows it. */
export async function findMutation(
  { name, harsh = false }: Mutation,
  { most, jobs }: { most: number; jobs?: number | undefined },
): Promise<Found | undefined> {
  let size = FEWEST
  for (let from = 1; from <= most; from += size, size = Math.min(2 * size, MOST_AT_ONCE)) {
    const { violations } = await runSeeds({ from, count: Math.min(size, most + 1 - from), jobs, mutation: name, harsh })
    // Whichever process was first: the lowest seed counts, so that the same code gives the same answer.
    for (const violation of violations.toSorted((a, b) => a.seed - b.seed)) {
      if (await isClean(violation.seed, harsh)) return violation
    }
  }
  return undefined
}

/** This seed shows it, by the same invariant. */
export async function isFoundBy(
  { name, harsh = false }: Mutation,
  { seed, invariant }: Pick<Found, 'seed' | 'invariant'>,
): Promise<boolean> {
  const { violations } = await runSeeds({ from: seed, count: 1, jobs: 1, mutation: name, harsh })
  return violations.some((violation) => violation.invariant === invariant) && (await isClean(seed, harsh))
}

/** A seed that shows something without the mutation too shows nothing of it. */
async function isClean(seed: number, harsh: boolean): Promise<boolean> {
  const { violations } = await runSeeds({ from: seed, count: 1, jobs: 1, harsh })
  return violations.length === 0
}
