import { expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import { AdapterError, type Call, type Target } from '../../../adapters/contract.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { LoadBalancer, Rate } from '../request.ts'
import { withinRates } from './call-budget.ts'

const RATE: Rate = { calls: 2, perMs: 1_000, account: 'cloud' }
const TARGET: Target = { id: 'pool/a', scope: 'pool' }
const call: Call = { deadlineMs: 10_000, assertLive: () => {} }

function bed(rates: (Rate | undefined)[], fault?: () => AdapterError | undefined) {
  const clock = createVirtualClock()
  const begunAt = clock.now()
  /** The load balancer and the second of each call, in the order of arrival. */
  const calls: string[] = []
  const loadBalancers = rates.map((rate, index): LoadBalancer => {
    const adapter = createMemoryAdapter(createMemoryBalancer([{ name: 'a', address: '10.0.0.1', port: 80 }]), {
      fault: () => {
        calls.push(`${index} at ${(clock.now() - begunAt) / 1_000}`)
        return fault?.()
      },
    })
    return { name: `lb-${index}`, adapterName: 'memory', adapter, port: 80, ...(rate && { rate }) }
  })
  const adapters = withinRates(loadBalancers, clock).map(({ adapter }) => adapter)
  const ask = (index: number): Promise<unknown> => adapters[index]!.inspect([TARGET], call)
  return { clock, calls, ask }
}

test('no more calls begin in any stretch than the rate says, in the order in which they were asked', async () => {
  const { clock, calls, ask } = bed([RATE])
  const all = Promise.all(Array.from({ length: 5 }, () => ask(0)))
  await clock.advance(2_000)
  await all
  expect(calls).toEqual(['0 at 0', '0 at 0', '0 at 1', '0 at 1', '0 at 2'])
})

test('load balancers of one account share it, and others do not', async () => {
  const { clock, calls, ask } = bed([RATE, RATE, { ...RATE, account: 'other' }, undefined])
  const all = Promise.all([0, 1, 0, 2, 3].map(ask))
  await clock.advance(1_000)
  await all
  expect(calls).toEqual(['3 at 0', '0 at 0', '2 at 0', '1 at 0', '0 at 1'])
})

test('an answer that says "later" holds all calls of the account', async () => {
  const faults = [new AdapterError('cloud', 'throttled', 'slow down', { retryAfterMs: 3_000 })]
  const { clock, calls, ask } = bed([RATE, RATE], () => faults.shift())
  await expect(ask(0)).rejects.toMatchObject({ kind: 'throttled' })
  const other = ask(1)
  await clock.advance(2_900)
  expect(calls).toEqual(['0 at 0'])
  await clock.advance(100)
  await other
  expect(calls).toEqual(['0 at 0', '1 at 3'])
})
