import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createScale } from './scale.ts'

const MINUTE = 60_000

test('nothing to the left of the beginning, nothing to the right of the end', () => {
  const { x } = createScale([{ fromMs: 1000, toMs: 3000 }])
  expect([x(0), x(1000), x(2000), x(3000), x(9000)]).toEqual([0, 0, 50, 100, 100])
})

test('a long stretch in which nothing happens is made short, and named', () => {
  const { x, gaps } = createScale([
    { fromMs: 0, toMs: MINUTE },
    { fromMs: 61 * MINUTE, toMs: 62 * MINUTE },
  ])
  expect(gaps).toEqual([{ fromMs: MINUTE, toMs: 61 * MINUTE }])
  expect(x(61 * MINUTE) - x(MINUTE)).toBeLessThan(5)
  expect(x(MINUTE)).toBeGreaterThan(45)
})

test('a short one is left as it is', () => {
  const { x, gaps } = createScale([
    { fromMs: 0, toMs: 40_000 },
    { fromMs: 45_000, toMs: 85_000 },
  ])
  expect(gaps).toEqual([])
  expect(x(42_500)).toBe(50)
})

const spans = fc.array(
  fc.tuple(fc.nat({ max: 1e9 }), fc.nat({ max: 1e6 })).map(([fromMs, ms]) => ({ fromMs, toMs: fromMs + ms })),
  { minLength: 1, maxLength: 30 },
)

test('whatever the run was: later is never to the left of earlier, all is on the axis, and it has few labels, apart', () => {
  fc.assert(
    fc.property(spans, fc.array(fc.nat({ max: 1e9 }), { minLength: 2 }), (all, instants) => {
      const { x, ticks } = createScale(all)
      const places = instants.toSorted((a, b) => a - b).map((instant) => x(instant))
      places.forEach((place, index) => {
        expect(place).toBeGreaterThanOrEqual(places[index - 1] ?? 0)
        expect(place).toBeLessThanOrEqual(100)
      })
      expect(ticks.length).toBeLessThan(14)
      ticks.slice(1).forEach((tick, index) => expect(x(tick) - x(ticks[index]!)).toBeGreaterThan(5))
    }),
  )
})
