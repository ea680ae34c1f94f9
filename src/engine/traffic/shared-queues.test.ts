/** Two runs of a process behind one load balancer. */
import { expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import { createScopeQueues } from './scope-queues.ts'
import { createTraffic } from './traffic.ts'

/** With `shares`, the runs of one process, otherwise of two processes. The first call is held until `release`. */
function twoRuns(shares = true) {
  const names = ['web-0', 'shop-0', 'shop-1']
  const balancer = createMemoryBalancer(names.map((name, index) => ({ name, address: `10.0.0.${index}`, port: 80 })))
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  let underWay = 0
  let most = 0
  const adapter = createMemoryAdapter(balancer, {
    async delay(moment) {
      underWay += moment === 'before' ? 1 : -1
      most = Math.max(most, underWay)
      if (moment === 'before') await held
    },
  })
  const clock = createVirtualClock()
  const queues = createScopeQueues(clock)
  const lost = new Set<string>()
  const run = (id: string) => {
    const traffic = createTraffic({
      clock,
      queues: shares ? queues : createScopeQueues(clock),
      loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
      allowUnbalanced: false,
      assertOwned() {
        if (lost.has(id)) throw new Error(`${id} has lost its Lease`)
      },
      tell: () => {},
    })
    const drain = (name: string) => {
      const prior = { state: 'ready', weight: 1 }
      const target: JournalTarget = { loadBalancer: 'edge', target: `pool/${name}`, scope: 'pool', prior, untouched: false }
      const record = { run: id, epoch: 1, attempt: 1, step: 'drain' as const, baseline: [], targets: [target] }
      return traffic.effect({ pod: name, uid: `uid-${name}`, effect: 'drain', record })
    }
    return { quiet: traffic.quiet, drain }
  }
  const calls = () => balancer.calls.map(({ method, ids }) => [method, ...ids.map((id) => id.slice('pool/'.length))].join(' '))
  return { web: run('web'), shop: run('shop'), calls, most: () => most, release, lost }
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('calls to one scope go out one at a time, and a batch holds targets of both', async () => {
  const { web, shop, calls, most, release } = twoRuns()
  const first = shop.drain('shop-0')
  await turn()
  const rest = [web.drain('web-0'), shop.drain('shop-1')]
  release()
  expect(await Promise.all([first, ...rest])).toEqual([{ kind: 'applied' }, { kind: 'applied' }, { kind: 'applied' }])
  expect([calls(), most()]).toEqual([['drain shop-0', 'drain web-0 shop-1'], 1])
})

test('control: with queues of their own they call it at the same time', async () => {
  const { web, shop, most, release } = twoRuns(false)
  const both = [shop.drain('shop-0'), web.drain('web-0')]
  await turn()
  release()
  await Promise.all(both)
  expect(most()).toBe(2)
})

test.each(['waits in the queue', 'is about to leave'])(
  'a run that ends while its call %s fails none of the other',
  async (when) => {
    const { web, shop, calls, release } = twoRuns()
    const first = when === 'waits in the queue' ? [shop.drain('shop-0')] : []
    await turn()
    const ended = web.drain('web-0')
    const other = shop.drain('shop-1')
    await turn()
    const quiet = web.quiet()
    release()
    expect([await ended, await other, await quiet]).toMatchObject([{ kind: 'retryable' }, { kind: 'applied' }, true])
    expect(calls().flatMap((call) => call.split(' ').slice(1))).toEqual([...first.map(() => 'shop-0'), 'shop-1'])
  },
)

test('a run that has lost its Lease sends nothing, and its batch mates of another run are sent', async () => {
  const { web, shop, calls, release, lost } = twoRuns()
  const both = [web.drain('web-0'), shop.drain('shop-1')]
  await turn()
  lost.add('web')
  release()
  const [ofWeb, ofShop] = await Promise.all(both)
  expect(ofWeb).not.toMatchObject({ kind: 'applied' })
  expect(ofShop).toEqual({ kind: 'applied' })
  expect(calls()).toEqual(['drain shop-1'])
})
