import { expect, test } from 'vitest'
import { runSeeds } from '../seeds.ts'
import { MUTATIONS } from './mutations.ts'
import { readRecorded } from './recorded.ts'

/* Each mutation with its recorded seed. `npm run mutations -- --moved` searches again for mutations that their seed no longer shows. */

const recorded = readRecorded()
const found = MUTATIONS.flatMap(({ harsh = false, ...mutation }) => {
  const known = recorded[mutation.name]
  return known === undefined ? [] : [{ ...mutation, ...known, harsh }]
})

test('every mutation has been found', () => {
  expect(MUTATIONS.map(({ name }) => name).filter((name) => recorded[name] === undefined)).toEqual([])
})

const kinds = [
  { kind: 'usual', harsh: false },
  { kind: 'harsh', harsh: true },
]

test.each(kinds)(
  'control: without any, no $kind seed shows anything, and has the same history in another process',
  async ({ harsh }) => {
    const seeds = [...new Set(found.filter((one) => one.harsh === harsh).map(({ seed }) => seed))]
    const runs = [seeds, seeds.toReversed()].map((only) => runSeeds({ from: 0, count: only.length, only, jobs: 1, harsh }))
    const [first, second] = await Promise.all(runs)
    expect(first!.violations).toEqual([])
    expect(seeds.length).toBeGreaterThan(0)
    expect(Object.keys(first!.hashes)).toHaveLength(seeds.length)
    expect(second!.hashes).toEqual(first!.hashes)
  },
)

test.concurrent.for(found)('$name is found: $breaks', async ({ name, seed, invariant, harsh }) => {
  const { violations } = await runSeeds({ from: seed, count: 1, jobs: 1, mutation: name, harsh })
  expect(violations.map((violation) => violation.invariant)).toContain(invariant)
})
