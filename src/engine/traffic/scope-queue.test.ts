import { expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import type { MemoryAdapterOptions, MemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import type { Adapter, Target } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import type { VirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { EffectRequest, ScopeQueue } from './scope-queue.ts'
import { createScopeQueue } from './scope-queue.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']

interface Bed {
  balancer: MemoryBalancer
  queue: ScopeQueue
  clock: VirtualClock
  /** Lets the held call go on. */
  release(): void
  calls(): string[]
}

/** A balancer whose calls wait for `release` where `hold` is set. */
function createBed(options: MemoryAdapterOptions & { hold?: boolean; change?: (adapter: Adapter) => Adapter } = {}): Bed {
  const balancer = createMemoryBalancer(NAMES.map((name, index) => ({ name, address: `10.0.0.${index}`, port: 80 })))
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const adapter = createMemoryAdapter(balancer, {
    ...(options.hold ? { delay: (moment: string) => (moment === 'before' ? held : undefined) } : {}),
    ...options,
  })
  const clock = createVirtualClock()
  const queue = createScopeQueue({ clock, adapter: options.change?.(adapter) ?? adapter, callLifeMs: 1_000 })
  return {
    balancer,
    queue,
    clock,
    release: () => release(),
    calls: () => balancer.calls.map(({ method, ids }) => `${method} ${ids.map((id) => id.slice('pool/'.length)).join('')}`),
  }
}

const target = (name: string): Target => ({ id: `pool/${name}`, scope: 'pool' })
const effect = (name: string, more: Partial<EffectRequest> = {}): EffectRequest => ({
  kind: 'drain',
  target: target(name),
  prior: { state: 'ready', weight: 1 },
  operation: `op-${name}`,
  fence: 1,
  assertLive() {},
  ...more,
})
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('what is asked for in the same turn goes out together', async () => {
  const { queue, calls, balancer } = createBed()
  const done = await Promise.all(NAMES.map((name) => queue.effect(effect(name))))
  expect(calls()).toEqual(['drain abcdef'])
  expect(done.every(({ result, batch }) => result.outcome === 'applied' && batch === 6)).toBe(true)
  expect(balancer.calls[0]!.operationIds).toEqual(NAMES.map((name) => `op-${name}`))
})

test('what waits while a call is under way goes out as the next one', async () => {
  const { queue, calls, release } = createBed({ hold: true })
  const first = queue.effect(effect('a'))
  await turn()
  const rest = NAMES.slice(1).map((name) => queue.effect(effect(name)))
  await turn()
  expect(calls()).toEqual([])
  release()
  await Promise.all([first, ...rest])
  expect(calls()).toEqual(['drain a', 'drain bcdef'])
})

test('never two calls at once', async () => {
  let running = 0
  let most = 0
  const { queue } = createBed({
    async delay(moment) {
      running += moment === 'before' ? 1 : -1
      most = Math.max(most, running)
      await turn()
    },
  })
  const all: Promise<unknown>[] = []
  for (const name of NAMES) {
    all.push(queue.effect(effect(name)), queue.inspect(target(name)), queue.snapshot(target(name)))
    await turn()
  }
  await Promise.all(all)
  expect(most).toBe(1)
})

test('a batch is as large as the adapter takes', async () => {
  const { queue, calls } = createBed({ capabilities: { maxBatch: 4 } })
  await Promise.all(NAMES.map((name) => queue.effect(effect(name))))
  expect(calls()).toEqual(['drain abcd', 'drain ef'])
})

test('the oldest goes first, with all of its kind that wait behind it', async () => {
  const { queue, calls, release } = createBed({ hold: true })
  const all = [queue.inspect(target('a'))]
  await turn()
  const more = [
    queue.effect(effect('b')),
    queue.inspect(target('c')),
    queue.effect(effect('d')),
    queue.effect(effect('e', { kind: 'restore' })),
    queue.inspect(target('f')),
  ]
  release()
  await Promise.all([...all, ...more])
  expect(calls()).toEqual(['inspect a', 'drain bd', 'inspect cf', 'restore e'])
})

test('the calls to one target keep their order', async () => {
  const { queue, calls, balancer } = createBed()
  await Promise.all([
    queue.effect(effect('a')),
    queue.inspect(target('b')),
    queue.effect(effect('b')),
    queue.effect(effect('a', { kind: 'restore', operation: 'op-back' })),
    queue.effect(effect('a', { operation: 'op-again' })),
  ])
  expect(calls()).toEqual(['drain a', 'inspect b', 'drain b', 'restore a', 'drain a'])
  expect(balancer.changes.map(({ operationId }) => operationId)).toEqual(['op-a', 'op-b', 'op-back', 'op-again'])
})

test('effects of different epochs never share a call: its one fence would lock an owner out', async () => {
  const { queue, balancer } = createBed({ fencing: true })
  await Promise.all([
    queue.effect(effect('a', { fence: 7 })),
    queue.effect(effect('b', { fence: 2 })),
    queue.effect(effect('c', { fence: 7 })),
  ])
  expect(balancer.calls.map(({ ids, fence }) => [ids, fence])).toEqual([
    [['pool/a', 'pool/c'], 7],
    [['pool/b'], 2],
  ])
  await expect(queue.effect(effect('b', { fence: 2, kind: 'restore' }))).resolves.toMatchObject({
    result: { outcome: 'applied' },
  })
})

test('one that has lost its right leaves the queue, and its mates go out without it', async () => {
  const { queue, calls } = createBed()
  const lost = new AdapterError('engine', 'retryable', 'the Lease is not held')
  const all = await Promise.allSettled([
    queue.effect(effect('a')),
    queue.effect(
      effect('b', {
        assertLive: () => {
          throw lost
        },
      }),
    ),
    queue.effect(effect('c')),
  ])
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(all[1]).toMatchObject({ reason: lost })
  expect(calls()).toEqual(['drain ac'])
})

test('all have lost it: no call, and the next kind goes on', async () => {
  const { queue, calls } = createBed()
  const assertLive = (): never => {
    throw new AdapterError('engine', 'retryable', 'the Lease is not held')
  }
  const all = await Promise.allSettled([
    queue.effect(effect('a', { assertLive })),
    queue.effect(effect('b', { assertLive })),
    queue.inspect(target('c')),
  ])
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  expect(calls()).toEqual(['inspect c'])
})

// Two runs share the queue. One has lost its Lease, or is closed, as the call leaves.
test.each([
  { name: 'as a whole', perTarget: false },
  { name: 'by target', perTarget: true },
])('lost between the queue and the wire: its own effect is not sent, and the others are ($name)', async ({ perTarget }) => {
  const { queue, calls, release, balancer } = createBed({
    hold: true,
    change: (adapter) => ({
      ...adapter,
      drain: (targets, call) =>
        adapter.drain(targets, call).catch((error: AdapterError) => {
          if (!perTarget) throw error
          return new Map(targets.map(({ id }) => [id, { outcome: 'failed', error }]))
        }),
    }),
  })
  const lost: string[] = []
  const assertLive = (name: string) => (): void => {
    if (lost.includes(name)) throw new AdapterError('engine', 'retryable', `the Lease of ${name} is not held`)
  }
  const all = Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => queue.effect(effect(name, { assertLive: assertLive(name) }))))
  await turn()
  lost.push('a', 'c')
  release()
  expect(await all).toMatchObject([
    { reason: { message: 'engine: the Lease of a is not held' } },
    { value: { result: { outcome: 'applied' }, batch: 2 } },
    { reason: { message: 'engine: the Lease of c is not held' } },
    { value: { result: { outcome: 'applied' }, batch: 2 } },
  ])
  expect(calls()).toEqual(['drain bd'])
  expect(balancer.calls[0]!.operationIds).toEqual(['op-b', 'op-d'])
})

test('what may have left before one was lost is not sent again by the queue', async () => {
  let asked = 0
  const { queue, calls } = createBed({
    change: (adapter) => ({
      ...adapter,
      async drain(targets, call) {
        for (const one of targets) await adapter.drain([one], call)
        throw new Error('not reached')
      },
    }),
  })
  const assertLive = (): void => {
    asked += 1
    // The check in the queue and the check before the first part of the call pass.
    if (asked > 2) throw new AdapterError('engine', 'retryable', 'the Lease is not held')
  }
  const both = Promise.allSettled([queue.effect(effect('a')), queue.effect(effect('b', { assertLive }))])
  expect(await both).toMatchObject([{ reason: { kind: 'retryable' } }, { reason: { kind: 'retryable' } }])
  expect(calls()).toEqual(['drain a'])
})

test('a call that fails fails its batch, and no other', async () => {
  const faults = [new AdapterError('memory', 'throttled', 'slow down'), undefined]
  const { queue } = createBed({
    capabilities: { maxBatch: 2 },
    fault: () => faults.shift(),
  })
  const all = await Promise.allSettled(['a', 'b', 'c'].map((name) => queue.effect(effect(name))))
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
})

test('an adapter that throws at once, or leaves a target out, hurts nobody else', async () => {
  let first = true
  const { queue } = createBed({
    change: (adapter) => ({
      ...adapter,
      drain(targets, call) {
        if (!first) return adapter.drain(targets.slice(1), call)
        first = false
        throw new Error('a bug of the adapter')
      },
    }),
  })
  await expect(queue.effect(effect('a'))).rejects.toThrow('a bug of the adapter')
  const [left, done] = await Promise.allSettled([queue.effect(effect('b')), queue.effect(effect('c'))])
  expect(left).toMatchObject({ status: 'rejected', reason: { kind: 'ambiguous' } })
  expect(done).toMatchObject({ status: 'fulfilled' })
})

test('one target’s failure is its own', async () => {
  const { queue, balancer } = createBed()
  balancer.servers.get('pool/b')!.state = 'maint'
  const all = await Promise.all(['a', 'b', 'c'].map((name) => queue.effect(effect(name))))
  expect(all.map(({ result }) => result.outcome)).toEqual(['applied', 'failed', 'applied'])
})

// Between the lookup of its address and this look, the server of `b` has become another pod's.
test('one target of which there is no snapshot is no reason to have none of the others', async () => {
  const { queue, balancer, calls } = createBed()
  balancer.servers.delete('pool/b')
  const taken = await Promise.allSettled(['a', 'b', 'c'].map((name) => queue.snapshot(target(name))))
  expect(taken).toMatchObject([
    { status: 'fulfilled', value: { inRotation: true } },
    { status: 'rejected', reason: { kind: 'not-found' } },
    { status: 'fulfilled', value: { inRotation: true } },
  ])
  expect(calls()).toEqual(['snapshot abc', 'snapshot a', 'snapshot b', 'snapshot c'])
})

test('snapshots that fail together, as all of them would, are not asked for one by one', async () => {
  const { queue, calls } = createBed({ fault: () => new AdapterError('memory', 'retryable', 'nobody listens') })
  const taken = await Promise.allSettled([queue.snapshot(target('a')), queue.snapshot(target('b'))])
  expect(taken.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(calls().filter((call) => call.length > 'snapshot a'.length)).toEqual(calls())
})

test('readings are asked for once a batch, and each gets its own', async () => {
  const { queue, balancer, calls } = createBed()
  balancer.servers.get('pool/b')!.inFlight = 3
  const readings = await Promise.all([queue.inspect(target('a')), queue.inspect(target('b'))])
  expect(readings.map(({ inFlight }) => inFlight)).toEqual([0, 3])
  expect(calls()).toEqual(['inspect ab'])
})

test('a load balancer that says when it takes calls again is asked nothing before', async () => {
  const later = new AdapterError('memory', 'throttled', 'too many calls', { retryAfterMs: 3_000 })
  let isThrottling = true
  const { queue, calls, clock } = createBed({
    change: (adapter) => ({ ...adapter, drain: (...given) => (isThrottling ? Promise.reject(later) : adapter.drain(...given)) }),
  })
  await expect(queue.effect(effect('a'))).rejects.toBe(later)
  isThrottling = false
  const second = queue.effect(effect('b'))
  await clock.advance(2_999)
  expect(calls()).toEqual([])
  await clock.advance(1)
  await second
  expect(calls()).toEqual(['drain b'])
})

test('a load balancer that takes one target a call is read for all of them at once', async () => {
  const { queue, calls } = createBed({
    change: (adapter) => ({
      ...adapter,
      capabilities: { ...adapter.capabilities, maxBatch: 1 },
    }),
  })
  await Promise.all([...NAMES.map((name) => queue.inspect(target(name))), queue.effect(effect('a')), queue.effect(effect('b'))])
  expect(calls().filter((call) => call.startsWith('drain'))).toEqual(['drain a', 'drain b'])
  expect(calls()).toContain('inspect abcdef')
})
