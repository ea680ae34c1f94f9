import { expect, test } from 'vitest'
import { runSeeds } from '../seeds.ts'
import { MUTATIONS } from './mutations.ts'
import { readRecorded } from './recorded.ts'

/* Each mutation with the seed that has shown it. Where one shows nothing any more: npm run mutations -- --moved. */

const recorded = readRecorded()
const seeds = [...new Set(Object.values(recorded).map(({ seed }) => seed))]

/** Of one seed alone, in a process of its own. */
async function violationsOf(seed: number, mutation: string) {
  const { violations } = await runSeeds({ from: seed, count: 1, jobs: 1, mutation })
  return violations
}

test('every mutation has been found', () => {
  expect(MUTATIONS.map(({ name }) => name).filter((name) => recorded[name] === undefined)).toEqual([])
})

test('control: without any, none of these seeds shows anything, and each has the same history in another process', async () => {
  const runs = [seeds, seeds.toReversed()].map((only) => runSeeds({ from: 0, count: only.length, only, jobs: 1 }))
  const [first, second] = await Promise.all(runs)
  expect(first!.violations).toEqual([])
  expect(Object.keys(first!.hashes)).toHaveLength(seeds.length)
  expect(second!.hashes).toEqual(first!.hashes)
})

test.concurrent.for(MUTATIONS.filter(({ name }) => recorded[name]))('$name is found: $breaks', async ({ name }) => {
  const { seed, invariant } = recorded[name]!
  const violations = await violationsOf(seed, name)
  expect(violations.map((violation) => violation.invariant)).toContain(invariant)
})
