import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Bed, openBed, statefulSet } from './ways-out/bed.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let bed: Bed

beforeEach(async () => {
  bed = await openBed()
  bed.cluster.apply(statefulSet())
  await bed.ready(1)
  await bed.balance()
})

afterEach(() => bed.close())

test('an abort that ends a run itself waits as long as its own flags say', async () => {
  expect((await bed.sluice('upgrade', 'sts/web', 'app=app:far', '--restart-deadline', '2s')).code).toBe(1)
  const { code, stdout } = await bed.sluice('abort', 'sts/web', '--restart-deadline', '2s')
  expect(code, stdout).toBe(1)
  expect(stdout).toContain('restart deadline')
  expect(bed.edge().calls.filter(({ method }) => method !== 'GET').length).toBe(1)
})
