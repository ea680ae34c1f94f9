import { expect, test } from 'vitest'
import type { EffectCall } from '../../../adapters/contract.ts'
import { createLoadBalancer } from '../../../sim/load-balancer/balancer.ts'
import type { LoadBalancerOptions } from '../../../sim/load-balancer/balancer.ts'
import type { Level } from '../../../sim/load-balancer/write.ts'
import { createVirtualClock } from '../../../src/kube/testing/virtual-clock.ts'
import { createSimulatedAdapter } from './simulated-adapter.ts'

const target = { id: 'a@10.0.0.1:80', scope: 'edge' }
const call: EffectCall = { deadlineMs: 1_000, assertLive: () => {}, operationIds: new Map([[target.id, 'op-1']]), fence: 1 }

function bed(level: Level, over: Partial<LoadBalancerOptions> = {}) {
  const balancer = createLoadBalancer({
    name: 'edge',
    level,
    servers: [{ name: 'a', address: '10.0.0.1', port: 80, weight: 5 }],
    clock: createVirtualClock(),
    random: { next: () => 0.5 },
    ...over,
  })
  const wire = { call: async <T>({ arrive }: { arrive(): T }) => arrive() }
  return { balancer, adapter: createSimulatedAdapter({ balancer, wire, process: 'one' }) }
}

test('G0 says nothing of a target, drains it, and restores what is configured', async () => {
  const { balancer, adapter } = bed('G0')
  const snapshot = (await adapter.snapshot([target], call)).get(target.id)
  expect(snapshot).toEqual({ prior: null, inRotation: true })
  expect((await adapter.drain([target], call)).get(target.id)).toEqual({ outcome: 'applied' })
  expect(balancer.state('a')).toMatchObject({ admin: 'drain' })
  expect((await adapter.inspect([target], call)).get(target.id)).toMatchObject({ admin: 'unknown', inFlight: null })
  await adapter.restore([{ target, prior: null }], call)
  expect(balancer.state('a')).toMatchObject({ admin: 'ready', weight: 5 })
})

test('an asynchronous job is pending until a read shows it', async () => {
  const clock = createVirtualClock()
  const { adapter } = bed('G1', { jobMs: 100, clock })
  const admin = async () => (await adapter.inspect([target], call)).get(target.id)!.admin
  expect((await adapter.drain([target], call)).get(target.id)).toEqual({ outcome: 'pending', job: 'job-1' })
  expect(await admin()).toBe('in')
  await clock.advance(100)
  expect(await admin()).toBe('draining')
})

test('throttled, with the time to wait', async () => {
  const { adapter } = bed('G1', { throttle: () => 250 })
  await expect(adapter.drain([target], call)).rejects.toMatchObject({ kind: 'throttled', retryAfterMs: 250 })
})

test.each<{ over: Partial<LoadBalancerOptions>; level: Level; says: object }>([
  { level: 'G0', over: {}, says: { inspect: 'none', inFlight: 'none' } },
  { level: 'G1', over: { staleMs: 700 }, says: { inspect: 'eventual', inFlight: 'exact', settleMs: 700 } },
  { level: 'G1', over: { traffic: { concurrent: 1, longestMs: 1, lagMs: 900 } }, says: { inspect: 'strong', settleMs: 900 } },
  {
    level: 'G1',
    over: { staleMs: 700, traffic: { concurrent: 1, longestMs: 1, lagMs: 900 } },
    says: { inspect: 'eventual', settleMs: 1_600 },
  },
  { level: 'G2', over: { countsRequests: false }, says: { inFlight: 'none' } },
  { level: 'G3', over: { volatile: true }, says: { volatileOnReload: true } },
])('$level $over says $says', ({ level, over, says }) => {
  expect(bed(level, over).adapter.capabilities).toMatchObject({ guarantee: level, ...says })
})
