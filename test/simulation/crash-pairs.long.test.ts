import { expect, test } from 'vitest'
import { killedAt } from './kill.ts'
import { plainBalancer, plainScene } from './scene.ts'

const scene = plainScene({ balancers: [plainBalancer({ weights: [7] })] })

test('one pod, killed at every pair of deliveries: of the first process, and of the one that goes on', async () => {
  const {
    deliveries: [count],
  } = await killedAt(scene, [])
  let pairs = 0
  for (let first = 0; first < count!; first++) {
    const once = { process: 0, delivery: first }
    const { deliveries } = await killedAt(scene, [once])
    for (let second = 0; second < deliveries[1]!; second++) {
      const { kills, violations, last } = await killedAt(scene, [once, { process: 1, delivery: second }])
      expect({ kills, violations, last }).toEqual({ kills, violations: [], last: 'done' })
      pairs += 1
    }
  }
  console.log(`${pairs} pairs`)
  expect(pairs).toBeGreaterThan(2_000)
})
