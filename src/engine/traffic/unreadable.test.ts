import { describe, expect, test } from 'vitest'
import type { MemoryFault } from '../../../adapters/conformance/memory-adapter.ts'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import type { Journal, JournalTarget } from '../../pods/glossary.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createScopeQueues } from './scope-queues.ts'
import { createTraffic } from './traffic.ts'

/* A load balancer that cannot be read back (G0). Its answers are all that is known of it. */

const POD = testPod({ name: 'web-0', uid: 'uid-0', ip: '10.0.0.1' })

function createBed() {
  const balancer = createMemoryBalancer([{ name: 'web-0', address: '10.0.0.1', port: 80 }], 'edge')
  const bed: { fault?: MemoryFault | undefined } = {}
  const adapter = createMemoryAdapter(balancer, {
    capabilities: { guarantee: 'G0', inspect: 'none', inFlight: 'none' },
    fault: ({ method }) => {
      if (method === 'inspect') throw new Error('it must not be asked')
      return method === 'drain' || method === 'restore' ? bed.fault : undefined
    },
  })
  const traffic = createTraffic({
    clock: createVirtualClock(),
    queues: createScopeQueues(createVirtualClock()),
    loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
    allowUnbalanced: false,
    assertOwned: () => {},
    tell: () => {},
  })
  const target: JournalTarget = {
    loadBalancer: 'edge',
    target: 'edge/web-0',
    scope: 'edge',
    prior: { state: 'ready', weight: 1 },
    untouched: false,
  }
  const record: Journal = { run: 'run-1', epoch: 1, attempt: 1, step: 'drain', baseline: [], targets: [target] }
  return {
    bed,
    balancer,
    traffic,
    target,
    effect: (effect: 'drain' | 'restore') => traffic.effect({ pod: 'web-0', uid: 'uid-0', effect, record }),
    inspect: (known?: { wasOut: boolean }) => traffic.inspect('uid-0', [target], known),
    compare: () => traffic.compare([target]),
  }
}

const HIDDEN = { state: 'unknown', hidden: true }

describe('its answers are believed', () => {
  test('in when it was looked for, out after the drain, in after the restore; in flight is never known', async () => {
    const { traffic, effect, inspect, compare } = createBed()
    await traffic.snapshot(POD)
    expect(await inspect()).toMatchObject({ state: 'in', inFlight: null })
    await effect('drain')
    expect(await inspect()).toMatchObject({ state: 'out', inFlight: null })
    expect(await compare()).toMatchObject({ kind: 'different' })
    await effect('restore')
    expect(await inspect()).toMatchObject({ state: 'in' })
    expect(await compare()).toEqual({ kind: 'equal' })
  })

  test('what it has answered for is not asked of it again', async () => {
    const { balancer, traffic, effect } = createBed()
    await traffic.snapshot(POD)
    for (const kind of ['restore', 'drain', 'drain', 'restore', 'restore'] as const)
      expect(await effect(kind)).toEqual({ kind: 'applied' })
    expect(balancer.calls.flatMap(({ method }) => (method === 'drain' || method === 'restore' ? [method] : []))).toEqual([
      'drain',
      'restore',
    ])
  })

  test('a refusal and a call that was not sent leave it as it was', async () => {
    const { bed, traffic, effect, inspect } = createBed()
    await traffic.snapshot(POD)
    for (const fault of ['refused', new AdapterError('edge', 'fatal', 'no')] as const) {
      bed.fault = fault
      await effect('drain')
      expect(await inspect()).toMatchObject({ state: 'in' })
    }
  })
})

describe('what it is taken to be without an answer', () => {
  test('is said to be no answer: in, as any is that is looked for, until it has answered', async () => {
    const { traffic, effect, inspect } = createBed()
    await traffic.snapshot(POD)
    expect(await inspect()).toMatchObject({ state: 'in', supposed: true })
    await effect('drain')
    expect(await inspect()).not.toHaveProperty('supposed')
    await effect('restore')
    expect(await inspect()).not.toHaveProperty('supposed')
  })

  test('an answer stays one where it is looked for once more', async () => {
    const { traffic, effect, inspect } = createBed()
    await traffic.snapshot(POD)
    await effect('drain')
    await effect('restore')
    await traffic.snapshot(POD)
    expect(await inspect()).not.toHaveProperty('supposed')
  })

  test('also where its drain was refused, and a restore is therefore not sent', async () => {
    const { bed, balancer, traffic, effect, inspect } = createBed()
    await traffic.snapshot(POD)
    bed.fault = new AdapterError('edge', 'fatal', 'no')
    await effect('drain')
    bed.fault = undefined
    expect(await effect('restore')).toEqual({ kind: 'applied' })
    expect(balancer.calls.filter(({ method }) => method === 'restore')).toEqual([])
    expect(await inspect()).toMatchObject({ state: 'in', supposed: true })
  })
})

describe('what is in doubt', () => {
  test('a lost answer hides it for good, and the call is not sent again; the answer to the opposite one says again', async () => {
    const { bed, balancer, traffic, effect, inspect, compare } = createBed()
    await traffic.snapshot(POD)
    bed.fault = 'reply-lost'
    await effect('drain')
    expect(await inspect()).toMatchObject(HIDDEN)
    expect(await compare()).toMatchObject({ kind: 'unknown' })
    bed.fault = undefined
    expect(await effect('drain')).toMatchObject({ kind: 'unknown' })
    expect(balancer.calls.filter(({ method }) => method === 'drain')).toHaveLength(1)
    expect(await inspect()).toMatchObject(HIDDEN)
    await effect('restore')
    expect(await inspect()).toMatchObject({ state: 'in' })
  })

  test('to another process it is hidden, but for a pod that was patched: that was out', async () => {
    expect(await createBed().inspect()).toMatchObject(HIDDEN)
    expect(await createBed().inspect({ wasOut: true })).toMatchObject({ state: 'out' })
  })
})
