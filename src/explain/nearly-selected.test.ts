import { expect, test } from 'vitest'
import { service } from '../endpoints/testing/objects.ts'
import { nearestServices, nearlySelected } from './nearly-selected.ts'
import { pod } from './testing/observed.ts'

const wanting = service({ selector: { app: 'web', tier: 'front' } })
const half = pod({ labels: { app: 'web' } })

test('more pods and Services than a call can have arguments', () => {
  const [found] = nearlySelected(
    wanting,
    Array.from({ length: 200_000 }, () => half),
  )
  expect([found!.pods.length, found!.labels]).toEqual([200_000, [{ name: 'tier', wanted: 'front' }]])
  const services = Array.from({ length: 200_000 }, () => wanting)
  expect(nearestServices(half, services).length).toBe(200_000)
})
