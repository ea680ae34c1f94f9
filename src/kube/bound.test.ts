import { expect, test } from 'vitest'
import { createBound } from './bound.ts'

test('no more than the places at once, in the order in which they came; a place is given back once', async () => {
  const bound = createBound(2)
  const entered: number[] = []
  const leaves: (() => void)[] = []
  const all = [0, 1, 2, 3].map(async (index) => {
    leaves[index] = await bound.enter()
    entered.push(index)
  })
  await Promise.all(all.slice(0, 2))
  expect(entered).toEqual([0, 1])
  leaves[1]!()
  leaves[1]!()
  await all[2]
  expect(entered).toEqual([0, 1, 2])
  leaves[0]!()
  await all[3]
  expect(entered).toEqual([0, 1, 2, 3])
})
