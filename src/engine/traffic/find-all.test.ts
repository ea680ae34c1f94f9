import { expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import type { Adapter } from '../../../adapters/contract.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import { createScopeQueues } from './scope-queues.ts'
import { createTraffic } from './traffic.ts'

/* The entries that are drained of a pod with several entries, where a list may be short. */

const pod = testPod({ ip: '10.0.0.1' })
const server = (name: string, address = '10.0.0.1') => ({ name, address, port: 80 })

function createBed({ allowUnbalanced = false } = {}) {
  const clock = createVirtualClock()
  const edge = createMemoryBalancer([server('a'), server('b'), server('c', '10.0.0.3')], 'web')
  const memory = createMemoryAdapter(edge)
  /** The entries that each of the next answers lacks. */
  const lacking: string[][] = []
  let looks = 0
  const adapter: Adapter = {
    ...memory,
    async resolve(endpoints, call) {
      looks += 1
      const lacks = lacking.shift() ?? []
      return (await memory.resolve(endpoints, call)).map((one) => {
        if (!one.found) return one
        const targets = one.targets.filter(({ id }) => !lacks.includes(id))
        return targets.length > 0 ? { found: true, targets } : { found: false, reason: 'no server has that address' }
      })
    },
  }
  const traffic = createTraffic({
    clock,
    queues: createScopeQueues(clock),
    loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
    allowUnbalanced,
    assertOwned: () => {},
    tell: () => {},
  })
  return {
    edge,
    traffic,
    lacking,
    /** The entries that were taken, and the number of looks. */
    async taken(one = pod) {
      looks = 0
      const answer = traffic.snapshot(one)
      await clock.advance(2_000)
      const found = await answer
      return [found.kind === 'taken' ? found.targets.map(({ target }) => target) : found.kind, looks]
    },
  }
}

test.each([false, true])('one short list is no list; also where none is needed: %s', async (allowUnbalanced) => {
  for (const lacks of [['web/b'], ['web/a', 'web/b']]) {
    const { traffic, lacking, taken } = createBed({ allowUnbalanced })
    await traffic.find([pod])
    lacking.push(lacks)
    expect(await taken()).toEqual([['web/a', 'web/b'], 2])
  }
})

test('what is not there twice has been removed: that is asked for once', async () => {
  const { traffic, edge, taken } = createBed()
  await traffic.find([pod])
  edge.servers.delete('web/b')
  expect(await taken()).toEqual([['web/a'], 2])
  expect(await taken()).toEqual([['web/a'], 1])
})

test('all of them: absent, or let through', async () => {
  for (const [allowUnbalanced, kind] of [[false, 'absent'] as const, [true, []] as const]) {
    const { traffic, edge, taken } = createBed({ allowUnbalanced })
    await traffic.find([pod])
    edge.servers.delete('web/a')
    edge.servers.delete('web/b')
    expect(await taken()).toEqual([kind, 2])
  }
})

test('two lists that are short, each in another way, are none', async () => {
  const { traffic, lacking, taken } = createBed({ allowUnbalanced: true })
  await traffic.find([pod])
  lacking.push(['web/a', 'web/b'], ['web/a'])
  expect(await taken()).toEqual(['unknown', 2])
  expect(await taken()).toEqual([['web/a', 'web/b'], 1])
})

test('the most that were ever found count, whatever they are called', async () => {
  const { traffic, edge, lacking, taken } = createBed()
  lacking.push([], ['web/a'])
  await traffic.find([pod])
  await traffic.find([pod])
  lacking.push(['web/a'])
  expect(await taken()).toEqual([['web/a', 'web/b'], 2])
  edge.servers.set('web/x', edge.servers.get('web/a')!)
  edge.servers.delete('web/a')
  expect(await taken()).toEqual([['web/b', 'web/x'], 1])
})

test('what was found of another pod, or at another address, says nothing', async () => {
  const { traffic, taken } = createBed()
  await traffic.find([pod])
  expect(await taken(testPod({ ip: '10.0.0.3' }))).toEqual([['web/c'], 1])
})
