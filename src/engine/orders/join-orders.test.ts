import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import { KubeError } from '../../kube/errors.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { RunError } from '../errors.ts'
import { LEASE_DURATION_MS, leaseRecord } from '../../leases/lease.ts'
import { createLeaseServer } from '../testing/lease-server.ts'
import { joinOrders } from './join-orders.ts'
import type { Order } from './order.ts'
import { ORDER_ANNOTATION, orderFor, readOrder, writeOrder } from './order.ts'

const pause: Order = { order: 'pause', runs: ['r1'], by: 'ann', epoch: 3 }
const abort: Order = { order: 'abort', runs: ['r1'], by: 'bob', epoch: 3 }

function createBed(standing: Order | undefined) {
  const server = createLeaseServer()
  const clock = createVirtualClock()
  const held = { holderIdentity: 'me', leaseTransitions: 3, leaseDurationSeconds: LEASE_DURATION_MS / 1_000, renewTime: 'a' }
  server.write(held)
  if (standing) server.annotate(ORDER_ANNOTATION, writeOrder(standing))
  const given = () => readOrder(server.lease()!.metadata.annotations ?? {})
  const bed = { isLost: false, heard: undefined as Order | undefined }
  /** Reads the order, as a renewal does. */
  const hear = () => (bed.heard = given())
  const join = async (): Promise<void> => {
    let isOver = false
    const joining = joinOrders({
      client: server.client,
      clock,
      signal: new AbortController().signal,
      namespace: 'shop',
      refs: [{ ...STATEFUL_SET, name: 'web' }],
      run: 'r2',
      isHeard: () => orderFor('r2', [bed.heard]) !== undefined,
      async assertOwned() {
        if (bed.isLost) throw new RunError('conflict', { code: 'lease-lost' })
      },
    }).finally(() => (isOver = true))
    joining.catch(() => {})
    await clock.runUntil(() => isOver)
    return joining
  }
  return { server, clock, given, hear, join, bed }
}

test.each<{ name: string; standing: Order | undefined }>([
  { name: 'nothing was ordered', standing: undefined },
  { name: 'it was given before this owner had the Lease', standing: { ...pause, epoch: 2 } },
  { name: 'nobody had the Lease, or it was of another workload', standing: { order: 'pause', runs: ['r1'], by: 'ann' } },
])('$name: nothing is written', async ({ standing }) => {
  const { server, join, given } = createBed(standing)
  await join()
  expect([server.calls, given()]).toEqual([['GET'], standing])
})

test('what was given to this owner means its run too, which has begun once that is heard', async () => {
  const others = [{ ...abort, runs: ['r9'], epoch: 2 }]
  const { clock, join, given, hear, server } = createBed({ ...pause, others })
  clock.setTimeout(hear, 3_500)
  const from = clock.now()
  await join()
  expect(given()).toEqual({ ...pause, runs: ['r2', 'r1'], others })
  expect(clock.now() - from).toBe(4_000)
  expect(server.lease()).toMatchObject({ spec: { holderIdentity: 'me', leaseTransitions: 3 } })
})

test('a Lease whose holder somebody has cleared meanwhile does not look as if it was given back', async () => {
  const { clock, join, hear, server } = createBed(pause)
  server.write({ ...server.lease()!.spec, holderIdentity: '' })
  clock.setTimeout(hear, 500)
  await join()
  expect(leaseRecord(server.lease())).toMatchObject({ holder: '', isGivenBack: false })
})

test('of a pause and an abort the abort', async () => {
  const { clock, join, given, hear } = createBed({ ...pause, runs: ['r0'], others: [abort] })
  clock.setTimeout(hear, 500)
  await join()
  expect(given()).toEqual({ ...pause, runs: ['r0'], others: [{ ...abort, runs: ['r2', 'r1'] }] })
})

test('a pause that is lifted before it is heard is waited for no longer', async () => {
  const { clock, join, server, given } = createBed(pause)
  clock.setTimeout(() => server.annotate(ORDER_ANNOTATION, undefined), 1_500)
  await join()
  expect(given()).toBeUndefined()
})

test('nor is one that is heard of no more, since another has the Lease', async () => {
  const { clock, join, bed } = createBed(pause)
  clock.setTimeout(() => (bed.isLost = true), 1_500)
  await expect(join()).rejects.toMatchObject({ kind: 'conflict' })
})

test('a renewal that comes in between, and an answer that is lost', async () => {
  const { server, clock, join, given, hear } = createBed(pause)
  server.fault = ({ method, index }) => {
    if (method === 'GET' && index === 0) queueMicrotask(() => queueMicrotask(() => server.annotate('team', 'web')))
    return method === 'PUT' && index === 3 ? 'unanswered' : undefined
  }
  clock.setTimeout(hear, 2_500)
  await join()
  expect(given()).toEqual({ ...pause, runs: ['r2', 'r1'] })
  expect(server.lease()!.metadata.annotations).toMatchObject({ team: 'web' })
})

test('one that cannot be written does not begin', async () => {
  const { server, join } = createBed(pause)
  server.fault = ({ method }) => (method === 'PUT' ? 'unsent' : undefined)
  await expect(join()).rejects.toBeInstanceOf(KubeError)
  expect(server.calls.filter((method) => method === 'PUT')).toHaveLength(5)
})
