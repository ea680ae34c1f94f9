import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { LedgerHeader } from '../../journal/ledger.ts'
import { giveOrder, liftPause } from './give-order.ts'
import { leaseRecord } from '../../leases/lease.ts'
import type { OpenRuns } from './open-runs.ts'
import type { Order } from './order.ts'
import { ORDER_ANNOTATION, orderFor, readOrder, writeOrder } from './order.ts'
import type { LeaseServer } from '../testing/lease-server.ts'
import { createLeaseServer } from '../testing/lease-server.ts'

const header = (run: string): LedgerHeader => ({ run, workloads: [], images: [], startedAt: '', chunks: 1 })

interface Bed {
  server: LeaseServer
  open(...runs: string[]): OpenRuns
  order(): Order | undefined
  options: { client: LeaseServer['client']; namespace: string }
}

function createBed(annotations: Record<string, string> = {}): Bed {
  const server = createLeaseServer()
  server.write({ holderIdentity: 'owner', leaseTransitions: 3, renewTime: 'a' })
  for (const [key, value] of Object.entries(annotations)) server.annotate(key, value)
  return {
    server,
    open: (...runs) => ({ asked: 'statefulset/web', refs: [], runs: runs.map(header), leases: [leaseRecord(server.lease())] }),
    order: () => readOrder(server.lease()!.metadata.annotations ?? {}),
    options: { client: server.client, namespace: 'shop' },
  }
}

const paused: Order = { order: 'pause', runs: ['r1'], by: 'ann' }
const aborted: Order = { order: 'abort', runs: ['r1'], by: 'ann' }

describe('giving', () => {
  test.each([
    { name: 'a Lease without annotations', annotations: {} },
    { name: 'one with the annotations of others', annotations: { team: 'web' } },
  ])('to $name: the rest of it stays as it is', async ({ annotations }) => {
    const { server, open, order, options } = createBed(annotations)
    await giveOrder(open('r2', 'r1'), { order: 'abort', by: 'bob' }, options)
    expect(order()).toEqual({ order: 'abort', runs: ['r2', 'r1'], by: 'bob' })
    expect(server.lease()).toMatchObject({ spec: { holderIdentity: 'owner', renewTime: 'a' }, metadata: { annotations } })
  })

  test('while the owner renews: decided anew on what is there then', async () => {
    const { server, open, order, options } = createBed({ team: 'web' })
    const stale = open('r1')
    server.write({ ...server.lease()!.spec, renewTime: 'b' })
    await giveOrder(stale, paused, options)
    expect([order(), server.lease()!.spec.renewTime]).toEqual([paused, 'b'])
  })

  test('the answer is lost: it is there once', async () => {
    const { server, open, order, options } = createBed()
    server.fault = ({ method, index }) => (method === 'PATCH' && index === 0 ? 'unanswered' : undefined)
    await giveOrder(open('r1'), paused, options)
    expect(order()).toEqual(paused)
    expect(server.calls).toEqual(['PATCH', 'GET'])
  })

  test.each([
    { name: 'the write and the look after it have no answer', faults: ['unanswered', 'lost'], kind: 'deadline', stands: true },
    { name: 'the write is lost, and nor has the look an answer', faults: ['lost', 'lost'], kind: 'deadline', stands: false },
    { name: 'the write cannot be sent', faults: ['unsent'], kind: 'definite', stands: false },
  ] as const)('$name: $kind', async ({ faults, kind, stands }) => {
    const { server, open, order, options } = createBed()
    server.fault = ({ index }) => faults[index]
    await expect(giveOrder(open('r1'), paused, options)).rejects.toMatchObject({ kind })
    expect(order()).toEqual(stands ? paused : undefined)
    // The order is given again, as the message says.
    server.fault = () => undefined
    await giveOrder(open('r1'), paused, options)
    expect(order()).toEqual(paused)
  })

  // The run has two workloads. The order already stands on the Lease of one.
  test('given to one of two Leases, and the other cannot be reached: it may stand', async () => {
    const { server, open, order, options } = createBed()
    const [lease] = open('r1').leases
    server.fault = ({ index }) => (index === 0 ? undefined : 'unsent')
    const giving = giveOrder({ ...open('r1'), leases: [lease!, { ...lease!, name: 'sluice-statefulset-db' }] }, paused, options)
    await expect(giving).rejects.toMatchObject({ kind: 'deadline', reason: { code: 'order-may-stand' } })
    expect(order()).toEqual(paused)
  })

  test('once more is nothing new, and who was first is named', async () => {
    const { server, open, order, options } = createBed({ [ORDER_ANNOTATION]: writeOrder(aborted) })
    await giveOrder(open('r1'), { order: 'abort', by: 'bob' }, options)
    expect([order(), server.calls]).toEqual([aborted, []])
  })

  test('an abort over a pause; never a pause over an abort', async () => {
    const { open, order, options } = createBed({ [ORDER_ANNOTATION]: writeOrder(paused) })
    await giveOrder(open('r1'), aborted, options)
    expect(order()).toEqual(aborted)
    await expect(giveOrder(open('r1'), paused, options)).rejects.toMatchObject({
      kind: 'conflict',
      reason: { code: 'being-aborted', runs: ['r1'], by: 'ann' },
    })
  })

  // The Lease has two runs. One of them also has another requested workload, so the order for the other must stay.
  test('what was ordered of other runs stays', async () => {
    const { open, order, options } = createBed({ [ORDER_ANNOTATION]: writeOrder({ ...paused, runs: ['r4', 'r1'] }) })
    await giveOrder(open('r1'), { order: 'abort', by: 'bob' }, options)
    expect(order()).toEqual({ ...paused, runs: ['r4'], others: [{ order: 'abort', runs: ['r1'], by: 'bob' }] })
    await giveOrder(open('r2'), { order: 'pause', by: 'eve' }, options)
    expect(['r4', 'r1', 'r2', 'r3'].map((run) => orderFor(run, [order()])?.by)).toEqual(['ann', 'bob', 'eve', undefined])
    await giveOrder(open('r4', 'r1'), { order: 'abort', by: 'eve' }, options)
    expect(order()).toEqual({
      order: 'pause',
      runs: ['r2'],
      by: 'eve',
      others: [{ order: 'abort', runs: ['r4', 'r1'], by: 'eve' }],
    })
  })

  test('a pause is of those that are not being aborted', async () => {
    const { open, order, options } = createBed({ [ORDER_ANNOTATION]: writeOrder(aborted) })
    expect(await giveOrder(open('r2', 'r1'), { order: 'pause', by: 'bob' }, options)).toEqual(['r2'])
    expect(order()).toEqual({ order: 'pause', runs: ['r2'], by: 'bob', others: [aborted] })
  })

  test('an abort that is ordered meanwhile is not paused', async () => {
    const { server, open, order, options } = createBed()
    const stale = open('r1')
    server.annotate(ORDER_ANNOTATION, writeOrder(aborted))
    await expect(giveOrder(stale, paused, options)).rejects.toMatchObject({ kind: 'conflict' })
    expect(order()).toEqual(aborted)
  })

  test('to an owner, of what was asked for: for the run that it may be about to begin; once more to the next one', async () => {
    const { server, open, order, options } = createBed()
    const asked = (...runs: string[]): OpenRuns => ({ ...open(...runs), refs: [{ ...STATEFUL_SET, name: 'web' }] })
    await giveOrder(asked('r1'), paused, options)
    expect(order()).toEqual({ ...paused, epoch: 3 })
    await giveOrder(asked('r1'), { ...paused, by: 'bob' }, options)
    expect(server.calls).toEqual(['PATCH'])
    server.write({ holderIdentity: '', leaseTransitions: 3 })
    await giveOrder(asked('r1'), { ...paused, by: 'bob' }, options)
    expect(server.calls).toEqual(['PATCH'])
    server.write({ holderIdentity: 'next', leaseTransitions: 4 })
    await giveOrder(asked('r1'), { ...paused, by: 'bob' }, options)
    expect(order()).toEqual({ ...paused, epoch: 4 })
  })
})

describe('lifting a pause', () => {
  test('whether it is lifted is not known where neither the write nor the look after it has an answer', async () => {
    const { server, open, order, options } = createBed({ [ORDER_ANNOTATION]: writeOrder(paused) })
    server.fault = ({ index }) => (index === 0 ? 'unanswered' : 'lost')
    await expect(liftPause(open('r1'), options)).rejects.toMatchObject({ kind: 'deadline' })
    expect(order()).toBeUndefined()
    server.fault = () => undefined
    expect(await liftPause(open('r1'), options)).toBeUndefined()
  })

  test('removes the order alone, and says whose it was', async () => {
    const { server, open, options } = createBed({ [ORDER_ANNOTATION]: writeOrder(paused), team: 'web' })
    expect(await liftPause(open('r1'), options)).toEqual({ by: 'ann', runs: ['r1'], aborted: [] })
    expect(server.lease()!.metadata.annotations).toEqual({ team: 'web' })
  })

  // The workload is in two open runs. The other run also has a second workload, for which its pause stays.
  test('of one of the runs that it means leaves it to the others', async () => {
    const { open, order, options } = createBed({ [ORDER_ANNOTATION]: writeOrder({ ...paused, runs: ['r2', 'r1'] }) })
    expect(await liftPause(open('r1'), options)).toEqual({ by: 'ann', runs: ['r1'], aborted: [] })
    expect(order()).toEqual({ ...paused, runs: ['r2'] })
  })

  test('of one beside another that is being aborted leaves the abort', async () => {
    const { open, order, options } = createBed({ [ORDER_ANNOTATION]: writeOrder({ ...paused, runs: ['r4'], others: [aborted] }) })
    // The result names only the runs whose pause is lifted.
    expect(await liftPause(open('r4', 'r1'), options)).toEqual({ by: 'ann', runs: ['r4'], aborted: ['r1'] })
    expect(order()).toEqual(aborted)
    await expect(liftPause(open('r4', 'r1'), options)).rejects.toMatchObject({ kind: 'conflict' })
  })

  // The abort could not be written to the Lease of the other workload.
  test('an abort that stands on one of two Leases counts', async () => {
    const { open, options } = createBed({ [ORDER_ANNOTATION]: writeOrder(paused) })
    const [lease] = open('r1').leases
    const other = { ...lease!, name: 'sluice-statefulset-db', annotations: { [ORDER_ANNOTATION]: writeOrder(aborted) } }
    await expect(giveOrder({ ...open('r1'), leases: [lease!, other] }, paused, options)).rejects.toMatchObject({
      kind: 'conflict',
    })
    await expect(liftPause({ ...open('r1'), leases: [lease!, other] }, options)).rejects.toMatchObject({ kind: 'conflict' })
  })

  test.each([
    { name: 'nothing was ordered', annotations: {} },
    { name: 'another run was paused', annotations: { [ORDER_ANNOTATION]: writeOrder({ ...paused, runs: ['r0'] }) } },
  ])('$name: undefined, and nothing is written', async ({ annotations }) => {
    const { server, open, options } = createBed(annotations)
    expect(await liftPause(open('r1'), options)).toBeUndefined()
    expect(server.calls).toEqual([])
  })

  test('an abort stays', async () => {
    const { open, order, options } = createBed({ [ORDER_ANNOTATION]: writeOrder(aborted) })
    await expect(liftPause(open('r1'), options)).rejects.toMatchObject({ kind: 'conflict' })
    expect(order()).toEqual(aborted)
  })
})
