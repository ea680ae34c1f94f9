import { expect, test } from 'vitest'
import type { MemoryFault } from '../../../adapters/conformance/memory-adapter.ts'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { Journal, JournalTarget } from '../../pods/glossary.ts'
import { createScopeQueues } from './scope-queues.ts'
import { createTraffic } from './traffic.ts'

/* The reading of a load balancer may be old (`inspect: eventual`). */

function createBed(inspect: 'strong' | 'eventual') {
  const clock = createVirtualClock()
  const balancer = createMemoryBalancer([{ name: 'web-0', address: '10.0.0.1', port: 80 }], 'edge')
  let fault: MemoryFault | undefined
  let held: Promise<void> | undefined
  const adapter = createMemoryAdapter(balancer, {
    capabilities: { inspect, settleMs: 1_000 },
    fault: ({ operationIds }) => (operationIds ? fault : undefined),
    delay: (moment) => (moment === 'after' ? held : undefined),
  })
  const traffic = createTraffic({
    clock,
    queues: createScopeQueues(clock),
    loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
    allowUnbalanced: false,
    assertOwned: () => {},
    tell: () => {},
  })
  const prior = { state: 'ready', weight: 1 }
  const target: JournalTarget = { loadBalancer: 'edge', target: 'edge/web-0', scope: 'edge', prior, untouched: false }
  const record: Journal = { run: 'run-1', epoch: 1, attempt: 1, step: 'restore', baseline: [], targets: [target] }
  return {
    clock,
    server: balancer.servers.get('edge/web-0')!,
    call: (effect: 'drain' | 'restore') => traffic.effect({ pod: 'web-0', uid: 'uid-0', effect, record }),
    restore: () => traffic.effect({ pod: 'web-0', uid: 'uid-0', effect: 'restore', record }),
    inspect: () => traffic.inspect('uid-0', [target]),
    lose: () => void (fault = 'reply-lost'),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        held = undefined
        resolve()
      }
    },
    compare: async () => (await traffic.compare([target])).kind,
  }
}

test('neither equal nor different until it has caught up with the restore', async () => {
  const { clock, server, restore, compare } = createBed('eventual')
  await restore()
  expect(await compare()).toBe('unknown')
  server.state = 'drain'
  await clock.advance(999)
  expect(await compare()).toBe('unknown')
  await clock.advance(1)
  expect(await compare()).toBe('different')
  await restore()
  expect(await compare()).toBe('unknown')
  await clock.advance(1_000)
  expect(await compare()).toBe('equal')
})

test('a process that has not restored it itself waits as long', async () => {
  const { clock, compare } = createBed('eventual')
  expect(await compare()).toBe('unknown')
  await clock.advance(1_000)
  expect(await compare()).toBe('equal')
})

test.each(['drain', 'restore'] as const)('a reading says that it may be from before the %s', async (effect) => {
  const { call, clock, inspect } = createBed('eventual')
  await call(effect)
  expect(await inspect()).toMatchObject({ old: true })
  await clock.advance(1_000)
  expect(await inspect()).not.toHaveProperty('old')
  await call(effect)
  expect(await inspect()).toMatchObject({ old: true })
})

test('nor does it say less where the answer took its time: it was asked for before that', async () => {
  const { call, clock, hold, inspect } = createBed('eventual')
  await call('drain')
  expect(await inspect()).toMatchObject({ old: true })
  await clock.advance(500)
  const release = hold()
  const reading = inspect()
  await clock.advance(600)
  release()
  expect(await reading).toMatchObject({ old: true })
  expect(await inspect()).not.toHaveProperty('old')
})

test('a call that was not answered may have changed it all the same', async () => {
  const { call, clock, compare, lose } = createBed('eventual')
  await compare()
  await clock.advance(1_000)
  expect(await compare()).toBe('equal')
  lose()
  await call('restore')
  expect(await compare()).toBe('unknown')
})

test('one that says what is so now is believed at once', async () => {
  const { restore, compare, inspect } = createBed('strong')
  await restore()
  expect(await compare()).toBe('equal')
  expect(await inspect()).not.toHaveProperty('old')
})

test.each(['strong', 'eventual'] as const)(
  '%s: what is read as out is no proof of a call until it has caught up',
  async (reads) => {
    const { clock, server, lose, call, inspect } = createBed(reads)
    server.state = 'drain'
    lose()
    await call('drain')
    expect((await inspect()).pending).toBe(reads === 'eventual' ? true : undefined)
    await clock.advance(1_000)
    expect((await inspect()).pending, 'out still').toBeUndefined()
  },
)
