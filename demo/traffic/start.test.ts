import { expect, test } from 'vitest'
import { DemoError } from '../demo-error.ts'
import { createChildren } from '../processes/children.ts'
import { startTraffic } from './start.ts'

test('a generator that is gone is a reason to stop, and no bug of sluice', async () => {
  const children = createChildren()
  const url = 'http://127.0.0.1:9'
  const traffic = startTraffic(children, { url, ratePerSecond: 50, heldShare: 0, holdMs: 0, freshShare: 1, timeoutMs: 1_000 })
  await traffic.begun
  await children.end()
  await expect(traffic.stop()).rejects.toThrow(new DemoError('the traffic generator of the demo ended too early (SIGKILL)'))
})
