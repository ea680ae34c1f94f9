import { expect, test } from 'vitest'
import type { Scene } from './scene.ts'
import { plainBalancer, plainScene } from './scene.ts'
import { simulate } from './simulate.ts'

/*
 * Exhaustive: sluice is killed before each delivery (a reply, a watch event, a timer) of an upgrade, and the same command
 * is run again. Nothing is left to a seed.
 */

async function judged(scene: Scene, kills: { process: number; delivery: number }[]) {
  const { violations, ends, deliveries } = await simulate(scene, { kills })
  return { kills, violations, last: ends.at(-1), deliveries }
}

const twoPods = plainScene({ pods: 2, balancers: [plainBalancer({ weights: [7, 1] })] })
const onePod = plainScene({ balancers: [plainBalancer({ weights: [7] })] })

test.each([
  { name: 'one pod', scene: onePod },
  { name: 'two pods', scene: twoPods },
  {
    name: 'two pods at once, behind two load balancers, with a Service',
    scene: plainScene({
      pods: 2,
      service: true,
      balancers: [plainBalancer(), plainBalancer({ name: 'inner', level: 'G2' })],
      settings: { ...twoPods.settings, maxUnavailable: { count: 2 } },
    }),
  },
])('killed at every delivery: $name', async ({ scene }) => {
  const {
    deliveries: [count],
  } = await judged(scene, [])
  expect(count).toBeGreaterThan(60)
  for (let delivery = 0; delivery < count!; delivery++) {
    const { kills, violations, last } = await judged(scene, [{ process: 0, delivery }])
    expect({ kills, violations, last }).toEqual({ kills, violations: [], last: 'done' })
  }
})

/** In `npm test` a part of the pairs, all of them in `npm run simulate -- --pairs`. */
test('killed at pairs of deliveries: one pod', async () => {
  const {
    deliveries: [count],
  } = await judged(onePod, [])
  let pairs = 0
  for (let first = 0; first < count!; first += 7) {
    const alone = await judged(onePod, [{ process: 0, delivery: first }])
    for (let second = first % 5; second < alone.deliveries[1]!; second += 5) {
      const { kills, violations, last } = await judged(onePod, [
        { process: 0, delivery: first },
        { process: 1, delivery: second },
      ])
      expect({ kills, violations, last }).toEqual({ kills, violations: [], last: 'done' })
      pairs += 1
    }
  }
  expect(pairs).toBeGreaterThan(100)
})
