import { expect, test } from 'vitest'
import { DemoError } from '../demo-error.ts'
import { createChildren } from '../processes/children.ts'
import { startEmbedded } from './embedded.ts'

test('a load balancer that is gone is a reason to stop, and no bug of sluice', async () => {
  const children = createChildren()
  const balancer = await startEmbedded(children, { pods: [], port: 80, folder: '' })
  expect(await balancer.look()).toEqual(new Map())
  await children.end()
  await expect(balancer.look()).rejects.toThrow(DemoError)
  await expect(balancer.drain('web-0')).rejects.toThrow(DemoError)
})
