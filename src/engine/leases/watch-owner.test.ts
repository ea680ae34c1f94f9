import { expect, test } from 'vitest'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { LEASE_DURATION_MS, leaseRecord } from '../../leases/lease.ts'
import { ORDER_ANNOTATION } from '../orders/order.ts'
import { createLeaseServer } from '../testing/lease-server.ts'
import { takeLease } from '../testing/take-lease.ts'
import type { Ownership } from './hold-lease.ts'
import type { SeenLease } from './ownership.ts'
import { watchOwner } from './watch-owner.ts'

const owner = { holderIdentity: 'owner', leaseTransitions: 3, renewTime: '0' }

function createBed() {
  const clock = createVirtualClock()
  const server = createLeaseServer()
  server.write(owner)
  const told: string[] = []
  let seen: Map<string, SeenLease> | undefined
  const watching = watchOwner({
    client: server.client,
    clock,
    namespace: 'shop',
    leases: [leaseRecord(server.lease())],
    onLook: (holder) => told.push(holder),
  }).then((result) => (seen = result))
  /** Takes the Lease over with its earlier readings. */
  const take = (): Promise<Ownership> => takeLease({ clock, server }, { seen: seen?.get('sluice-statefulset-web') })
  return { clock, server, told, watching, take, seen: () => seen }
}

test('waits for a living owner as long as it takes, until the Lease is given back', async () => {
  const { clock, server, told, seen } = createBed()
  for (let time = 1; time <= 12; time++) {
    await clock.advance(5_000)
    server.write({ ...owner, renewTime: String(time) })
  }
  expect(seen()).toBeUndefined()
  server.write({ ...owner, holderIdentity: '' })
  await clock.advance(1_000)
  expect(seen()?.size).toBe(0)
  expect(new Set(told)).toEqual(new Set(['owner']))
})

test('a dead owner: after one life and a pause, and whoever takes over then need not wait anew', async () => {
  const { clock, server, seen, take } = createBed()
  await clock.advance(3_000)
  // The order changes the version too, and is no sign that the owner lives.
  server.annotate(ORDER_ANNOTATION, 'x')
  await clock.advance(LEASE_DURATION_MS - 3_000)
  expect(seen()).toBeUndefined()
  await clock.advance(1_000)
  const from = clock.now()
  const ownership = await take()
  expect([ownership.epoch, clock.now() - from]).toEqual([4, 0])
})

test('what was seen of an owner that has renewed since is a conflict, at once', async () => {
  const { clock, server, take } = createBed()
  await clock.advance(LEASE_DURATION_MS + 1_000)
  server.write({ ...owner, renewTime: '1' })
  await expect(take()).rejects.toMatchObject({ kind: 'conflict' })
})

test.each([
  ['an', 'lost'],
  ['a gateway’s', 'gateway'],
] as const)('%s API server that is away for a moment is asked again', async (_which, fault) => {
  const { clock, server, seen } = createBed()
  let calls = 0
  server.fault = () => (calls++ < 4 ? fault : undefined)
  await clock.advance(8_000)
  expect(seen()).toBeUndefined()
  server.write({ ...owner, holderIdentity: '' })
  await clock.advance(2_000)
  expect(seen()?.size).toBe(0)
})

test('one that is deleted meanwhile: its owner may live, and whoever takes over waits for that, and counts on', async () => {
  const { clock, server, take } = createBed()
  server.write(undefined)
  await clock.advance(1_000)
  const from = clock.now()
  let ownership: Ownership | undefined
  void take().then((result) => (ownership = result))
  await clock.runUntil(() => ownership !== undefined)
  expect([ownership!.epoch, clock.now() - from]).toEqual([4, LEASE_DURATION_MS + 1_000])
})
