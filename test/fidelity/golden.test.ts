import { expect, test } from 'vitest'
import { type Golden, readGolden, readRecorded, type Steps, strangers } from './golden.ts'

const SCENARIO = 'stateful-set'

/** Each step of an object that was recorded, as the line before it and the line after it. */
function pairs({ states, steps }: Steps): [string, string][] {
  return steps.map((step) => {
    const [from, to] = step.split('>').map((place) => states[Number(place)]!)
    return [from!, to!]
  })
}

/** Steps of one recording that the other does not have. */
function lacking(golden: Golden, recorded: Golden): string[] {
  return Object.entries(recorded.objects).flatMap(([key, steps]) =>
    pairs(steps).flatMap(([from, to]) => {
      const strange = strangers(golden, { [key]: [from, to] })[key] ?? []
      return strange.filter((line) => line.includes('then: '))
    }),
  )
}

test('a version is measured by its own recordings and by those of the version that it does as', () => {
  const own = readRecorded(SCENARIO, '1.37')!
  const usual = readRecorded(SCENARIO, '1.35')!
  expect(lacking(usual, own)).not.toEqual([])
  const between = readRecorded(SCENARIO, '1.36')!
  const all = readGolden(SCENARIO, '1.37')!
  expect([own, between, usual].map((one) => lacking(all, one))).toEqual([[], [], []])
  expect(all.runs).toBe(own.runs + between.runs + usual.runs)
})
