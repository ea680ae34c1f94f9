import { expect, test } from 'vitest'
import { watchRotation } from './watch.ts'

test('each change is told once, in order', async () => {
  const world = new Map([
    ['web-0', true],
    ['web-1', true],
  ])
  const told: string[] = []
  const watch = await watchRotation(
    async () => new Map(world),
    ({ pod, isIn }) => told.push(`${pod} ${isIn ? 'in' : 'out'}`),
  )
  world.set('web-1', false)
  await expect.poll(() => told).toEqual(['web-1 out'])
  world.set('web-1', true).set('web-0', false)
  await expect.poll(() => told).toEqual(['web-1 out', 'web-0 out', 'web-1 in'])
  await watch.stop()
})

test('a load balancer that does not answer is told when the watch is stopped', async () => {
  let fails = false
  const look = async (): Promise<Map<string, boolean>> => {
    if (fails) throw new Error('gone')
    return new Map()
  }
  const watch = await watchRotation(look, () => {})
  fails = true
  await expect(watch.stop()).rejects.toThrow('gone')
})
