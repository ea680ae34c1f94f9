import { runSeeds } from '../seeds.ts'
import type { Mutation } from './mutation.ts'

/** The first seed that shows a mutation. */
export interface Found {
  seed: number
  invariant: string
  message: string
}

/** The number of seeds in a batch. The first batches are small, since one of the first seeds shows most mutations. */
const FEWEST = 16
const MOST_AT_ONCE = 512

/** Runs up to `most` seeds. Returns the first seed that shows the mutation. Undefined where none shows it. */
export async function findMutation(
  { name, harsh = false }: Mutation,
  { most, jobs }: { most: number; jobs?: number | undefined },
): Promise<Found | undefined> {
  let size = FEWEST
  for (let from = 1; from <= most; from += size, size = Math.min(2 * size, MOST_AT_ONCE)) {
    const { violations } = await runSeeds({ from, count: Math.min(size, most + 1 - from), jobs, mutation: name, harsh })
    // The lowest seed counts, independently of the order of the processes, so that equal code gives equal results.
    for (const violation of violations.toSorted((a, b) => a.seed - b.seed)) {
      if (await isClean(violation.seed, harsh)) return violation
    }
  }
  return undefined
}

/** Reports whether the seed shows the mutation by the same invariant. */
export async function isFoundBy(
  { name, harsh = false }: Mutation,
  { seed, invariant }: Pick<Found, 'seed' | 'invariant'>,
): Promise<boolean> {
  const { violations } = await runSeeds({ from: seed, count: 1, jobs: 1, mutation: name, harsh })
  return violations.some((violation) => violation.invariant === invariant) && (await isClean(seed, harsh))
}

/** Reports whether the seed has no violation without the mutation. Otherwise it does not show the mutation. */
async function isClean(seed: number, harsh: boolean): Promise<boolean> {
  const { violations } = await runSeeds({ from: seed, count: 1, jobs: 1, harsh })
  return violations.length === 0
}
