import { describe, expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import type { Adapter, Resolution, TargetObservation } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createScopeQueues } from './scope-queues.ts'
import { createTraffic } from './traffic.ts'

/* The entries of a pod that has got another address. */

const pod = testPod({ ip: '10.0.0.9' })
const target = (id: string, scope = 'web'): JournalTarget => ({
  loadBalancer: 'edge',
  target: id,
  scope,
  prior: { weight: 7 },
  untouched: false,
})
const BEFORE = [target('web/web-0@10.0.0.1')]

type Reading = Pick<TargetObservation, 'admin' | 'moved'>

interface Had {
  named?: boolean
  isItself?: boolean
  /** The readings of each entry, one look after another. An entry that is not named is gone. */
  reads?: Record<string, Reading[]>
  /** The entries at the pod's address at the second look. */
  later?: string[]
}

/** A load balancer with these entries at the pod's address. */
async function relocate(found: string[], before = BEFORE, had: Had = {}) {
  const { named = true, isItself = false, reads = {}, later = found } = had
  const clock = createVirtualClock()
  const startedAt = clock.now()
  const adapter: Adapter = {
    ...createMemoryAdapter(createMemoryBalancer([], 'web')),
    resolve() {
      const now = clock.now() === startedAt ? found : later
      return Promise.resolve([
        now.length === 0
          ? { found: false, reason: 'no server has that address' }
          : { found: true, targets: now.map((id) => ({ id, scope: 'web' })) },
      ])
    },
    inspect: (targets) =>
      Promise.resolve(
        new Map(
          targets.map(({ id }): [string, TargetObservation] => {
            const { admin, moved = false } = (reads[id]?.length === 1 ? reads[id][0] : reads[id]?.shift()) ?? { admin: 'absent' }
            return [id, { admin, routable: admin === 'in', inFlight: 0, ...(moved ? { moved } : {}) }]
          }),
        ),
      ),
    ...(named ? { entryOf: ({ id }) => id.split('@')[0]! } : {}),
  }
  const traffic = createTraffic({
    clock,
    queues: createScopeQueues(clock),
    loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
    allowUnbalanced: false,
    assertOwned: () => {},
    tell: () => {},
  })
  const answer = traffic.relocate(pod, before, isItself)
  await clock.advance(5_000)
  return answer
}

test('the same entry has followed it: known by its present id, with the prior state of before', async () => {
  expect(await relocate(['web/web-0@10.0.0.9'])).toEqual({
    kind: 'same',
    address: '10.0.0.9',
    targets: [target('web/web-0@10.0.0.9')],
  })
})

test('another entry has that address', async () => {
  expect(await relocate(['web/web-7@10.0.0.9'])).toEqual({
    kind: 'elsewhere',
    reason: {
      code: 'at-new-address',
      address: '10.0.0.9',
      entries: [{ loadBalancer: 'edge', target: 'web/web-7@10.0.0.9' }],
    },
  })
})

test('none has', async () => {
  expect(await relocate([])).toMatchObject({ kind: 'elsewhere', reason: { code: 'at-new-address', entries: [] } })
})

const OTHER = 'web/web-1x@10.0.0.9'
const LOST = target('web/web-1@10.0.0.1')
const KEPT = target('web/web-0@10.0.0.9')
const SAME = { kind: 'same', address: '10.0.0.9', targets: [KEPT] }
const MOVED: Reading = { admin: 'absent', moved: true }

describe('one that is there beside those on record', () => {
  const two = [KEPT.target, OTHER]

  test('is nothing to settle where it gets requests', async () => {
    expect(await relocate(two, BEFORE, { reads: { [OTHER]: [{ admin: 'in' }] } })).toEqual(SAME)
  })

  test.each(['draining', 'out'] as const)('may be somebody else’s where it is %s', async (admin) => {
    expect(await relocate(two, BEFORE, { reads: { [OTHER]: [{ admin }] } })).toMatchObject({ kind: 'elsewhere' })
  })

  test('is asked for again where it cannot be read now', async () => {
    expect(await relocate(two, BEFORE, { reads: { [OTHER]: [{ admin: 'unknown' }] } })).toMatchObject({ kind: 'unknown' })
  })

  test('takes requests of the pod itself, which may be about to be patched', async () => {
    const had: Had = { isItself: true, reads: { [OTHER]: [{ admin: 'in' }] } }
    expect(await relocate(two, BEFORE, had)).toMatchObject({ kind: 'elsewhere' })
  })
})

describe('one that is not there', () => {
  const two = [...BEFORE, LOST]

  test.each([false, true])('is dropped where it has been removed; the pod itself: %s', async (isItself) => {
    expect(await relocate([KEPT.target], two, { isItself })).toEqual(SAME)
  })

  test('and that another has been made in its place says nothing', async () => {
    expect(await relocate([KEPT.target, OTHER], two, { reads: { [OTHER]: [{ admin: 'in' }] } })).toEqual(SAME)
  })

  test.each<{ name: string; reading: Reading }>([
    { name: 'still where it was', reading: { admin: 'draining' } },
    { name: 'pointed at somebody else', reading: MOVED },
  ])('is not dropped where it is $name', async ({ reading }) => {
    expect(await relocate([KEPT.target], two, { reads: { [LOST.target]: [reading] } })).toMatchObject({ kind: 'elsewhere' })
  })

  test('is not dropped by one short list', async () => {
    const reads = { [LOST.target]: [{ admin: 'absent' }, { admin: 'draining' }] as Reading[] }
    expect(await relocate([KEPT.target], two, { reads })).toMatchObject({ kind: 'elsewhere' })
  })

  test('nor where it cannot be read now', async () => {
    const reads = { [LOST.target]: [{ admin: 'unknown' }] as Reading[] }
    expect(await relocate([KEPT.target], two, { reads })).toMatchObject({ kind: 'unknown' })
  })

  test('of the pod itself: there may be another that the list has not shown', async () => {
    const had = { isItself: true, later: [KEPT.target, OTHER] }
    expect(await relocate([KEPT.target], two, had)).toMatchObject({ kind: 'unknown' })
  })

  test('with all the others: there is nothing to follow', async () => {
    const reads = { [OTHER]: [{ admin: 'in' }] as Reading[] }
    expect(await relocate([OTHER], two, { reads })).toMatchObject({ kind: 'elsewhere' })
  })
})

test('an entry of another scope is another entry', async () => {
  expect(await relocate(['web/web-0@10.0.0.9'], [target('web/web-0@10.0.0.1', 'api')])).toMatchObject({ kind: 'elsewhere' })
})

test('where entries cannot move, only the very same id is the same', async () => {
  expect(await relocate(['web/web-0@10.0.0.9'], BEFORE, { named: false })).toMatchObject({ kind: 'elsewhere' })
  expect(await relocate(['web/web-0@10.0.0.1'], BEFORE, { named: false })).toMatchObject({ kind: 'same', targets: BEFORE })
})

test('a load balancer that does not answer says nothing', async () => {
  const adapter: Adapter = {
    ...createMemoryAdapter(createMemoryBalancer([], 'web')),
    resolve: () => Promise.reject(new AdapterError('edge', 'ambiguous', 'no answer')),
  }
  const traffic = createTraffic({
    clock: createVirtualClock(),
    queues: createScopeQueues(createVirtualClock()),
    loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
    allowUnbalanced: false,
    assertOwned: () => {},
    tell: () => {},
  })
  expect(await traffic.relocate(pod, BEFORE)).toEqual({
    kind: 'unknown',
    reason: { code: 'load-balancer-error', adapter: 'edge', kind: 'ambiguous', said: 'edge: no answer' },
  })
})

test('a load balancer that has it no more does not hide where the others have it', async () => {
  const memory = createMemoryAdapter(createMemoryBalancer([], 'web'))
  const there: Resolution = { found: true, targets: [{ id: KEPT.target, scope: 'web' }] }
  const edge: Adapter = { ...memory, resolve: () => Promise.resolve([there]), entryOf: ({ id }) => id.split('@')[0]! }
  const inner: Adapter = { ...memory, resolve: () => Promise.resolve([{ found: false, reason: 'no server has that address' }]) }
  const clock = createVirtualClock()
  const traffic = createTraffic({
    clock,
    queues: createScopeQueues(clock),
    loadBalancers: Object.entries({ edge, inner }).map(([name, adapter]) => ({ name, adapterName: 'memory', adapter, port: 80 })),
    allowUnbalanced: false,
    assertOwned: () => {},
    tell: () => {},
  })
  const answer = traffic.relocate(pod, [...BEFORE, { ...LOST, loadBalancer: 'inner' }])
  await clock.advance(5_000)
  expect(await answer).toEqual(SAME)
})
