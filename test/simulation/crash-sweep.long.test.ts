import { expect, test } from 'vitest'
import { killedAt } from './kill.ts'
import { plainBalancer, plainScene } from './scene.ts'

/* Kills sluice before each delivery of an upgrade, and runs the command again. The sweep is exhaustive, without a seed. */

const twoPods = plainScene({ pods: 2, balancers: [plainBalancer({ weights: [7, 1] })] })

test.each([
  { name: 'one pod', scene: plainScene({ balancers: [plainBalancer({ weights: [7] })] }) },
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
  {
    name: 'a pod behind two load balancers, one after the other',
    scene: plainScene({ balancers: [plainBalancer({ turn: 1 }), plainBalancer({ name: 'inner' })] }),
  },
])('killed at every delivery: $name', async ({ scene }) => {
  const {
    deliveries: [count],
  } = await killedAt(scene, [])
  expect(count).toBeGreaterThan(60)
  for (let delivery = 0; delivery < count!; delivery++) {
    const { kills, violations, last } = await killedAt(scene, [{ process: 0, delivery }])
    expect({ kills, violations, last }).toEqual({ kills, violations: [], last: 'done' })
  }
})
