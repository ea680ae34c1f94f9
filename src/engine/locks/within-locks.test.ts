import { expect, test } from 'vitest'
import { createRandom } from '../../../test/simulation/random.ts'
import { type Adapter, AdapterError, type EffectCall, type EffectResult } from '../../../adapters/contract.ts'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createLeaseServer } from '../testing/lease-server.ts'
import { withinLocks } from './within-locks.ts'

const TARGET = { id: 'pool/a', scope: 'pool' }

function bed(answer: (call: EffectCall) => Promise<Map<string, EffectResult>>) {
  const server = createLeaseServer()
  const clock = createVirtualClock()
  const memory = createMemoryAdapter(createMemoryBalancer([{ name: 'a', address: '10.0.0.1', port: 80 }]))
  const made: Adapter = { ...memory, drain: (_, call) => answer(call) }
  const lock = { client: server.client, namespace: 'shop', document: 'http://edge' }
  const [edge] = withinLocks([{ name: 'edge', adapterName: 'memory', adapter: made, port: 80, lock }], {
    clock,
    random: createRandom(1),
    identity: 'one',
  })
  const call: EffectCall = { deadlineMs: 10_000, assertLive() {}, operationIds: new Map(), fence: 1 }
  return {
    server,
    clock,
    drain: (over: Partial<EffectCall> = {}) => edge!.adapter.drain([TARGET], { ...call, ...over }),
    edge: edge!,
  }
}

/** The error of the second look of a call whose first part has left. */
function halted(call: EffectCall): unknown {
  isStillOwned = false
  try {
    call.assertLive()
  } catch (error) {
    return error
  }
  throw new Error('it was not halted')
}

let isStillOwned = true
const results = (result: EffectResult) => new Map([[TARGET.id, result]])
const failure = (kind: 'ambiguous' | 'retryable') => new AdapterError('edge', kind, 'no answer')

test.each<[string, (call: EffectCall) => Promise<Map<string, EffectResult>>, boolean]>([
  ['is done', async (call) => (call.assertLive(), results({ outcome: 'applied' })), false],
  ['is refused', async (call) => (call.assertLive(), results({ outcome: 'failed', error: failure('retryable') })), false],
  ['never left', async () => Promise.reject(new Error('what a plugin throws')), false],
  ['has no answer', async (call) => (call.assertLive(), Promise.reject(failure('ambiguous'))), true],
  [
    'has no answer for one target',
    async (call) => (call.assertLive(), results({ outcome: 'failed', error: failure('ambiguous') })),
    true,
  ],
  ['has an answer for another target', async (call) => (call.assertLive(), new Map()), true],
  [
    'was halted once a part of it had left',
    async (call) => {
      call.assertLive()
      await new Promise((go) => setTimeout(go, 5))
      throw halted(call)
    },
    true,
  ],
  ['is a job', async (call) => (call.assertLive(), results({ outcome: 'pending', job: '17' })), true],
  ['throws what nobody knows', async (call) => (call.assertLive(), Promise.reject(new Error('what a plugin throws'))), true],
])('a change that %s: the Lease is given back, or left where it may arrive still', async (_, answer, isLeft) => {
  const { server, drain, edge } = bed(async (call) => {
    expect(server.lease()!.spec.holderIdentity).toMatch(/^one_\w{6} 1$/)
    return answer(call)
  })
  isStillOwned = true
  const assertLive = (): void => {
    if (!isStillOwned) throw failure('retryable')
  }
  await drain({ assertLive }).catch(() => {})
  await edge.adapter.close()
  expect(server.lease()!.spec.holderIdentity !== '').toBe(isLeft)
})

test('reads take no Lease, and all else of the adapter stays as it is', async () => {
  const { server, edge } = bed(async () => results({ outcome: 'applied' }))
  await edge.adapter.inspect([TARGET], { deadlineMs: 10_000, assertLive() {} })
  expect(server.calls).toEqual([])
})

test('the changes of one process come one after another', async () => {
  let under = 0
  let most = 0
  const { clock, drain } = bed(async () => {
    most = Math.max(most, (under += 1))
    await new Promise<void>((go) => clock.setTimeout(go, 100))
    under -= 1
    return results({ outcome: 'applied' })
  })
  const all = Promise.all([drain(), drain(), drain()])
  await clock.advance(1_000)
  await all
  expect(most).toBe(1)
})

test('a change that comes to leave too late does not leave, and nor does the next owner’s', async () => {
  const sent: string[] = []
  const { clock, drain } = bed(async (call) => {
    await new Promise<void>((go) => clock.setTimeout(go, 6_000))
    call.assertLive()
    sent.push('drain')
    return results({ outcome: 'applied' })
  })
  const late = drain()
  late.catch(() => {})
  await clock.advance(6_000)
  await expect(late).rejects.toMatchObject({ kind: 'retryable', reason: { code: 'document-lock-old' } })
  const lost = new Error('the Lease of the run is lost')
  const notOwned = drain({
    assertLive() {
      throw lost
    },
  })
  notOwned.catch(() => {})
  // Other processes have a turn first.
  await clock.advance(8_000)
  await expect(notOwned).rejects.toBe(lost)
  expect(sent).toEqual([])
})

test('calls that wait one after another wait no longer than one does, and a close ends their wait', async () => {
  const { server, clock, drain, edge } = bed(async () => results({ outcome: 'applied' }))
  server.write({ holderIdentity: 'other 1', leaseDurationSeconds: 15 })
  const outcomes = Promise.allSettled(Array.from({ length: 10 }, () => drain()))
  await clock.advance(10_000)
  expect((await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason as object)).toEqual(
    Array.from({ length: 10 }, () => expect.objectContaining({ kind: 'retryable' }) as unknown),
  )
  const waiting = drain()
  waiting.catch(() => {})
  await clock.advance(100)
  await edge.adapter.close()
  await expect(waiting).rejects.toMatchObject({ reason: { code: 'document-locked' } })
  expect(clock.pending()).toBe(0)
})
