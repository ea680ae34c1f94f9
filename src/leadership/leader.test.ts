import { expect, test } from 'vitest'
import { createLeaseServer, type LeaseFault } from '../engine/testing/lease-server.ts'
import { LEASE_DURATION_MS, PAUSE_MS } from '../leases/lease.ts'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import type { Clock } from '../ports/clock.ts'
import { electLeader, NotLeading } from './leader.ts'

/* Replicas with clocks of their own on one API server, in virtual time. */

const LIFE_MS = LEASE_DURATION_MS + PAUSE_MS
const GIVEN_BACK = { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 4 }

function setUp() {
  const clock = createVirtualClock()
  const server = createLeaseServer()
  let seed = 1
  const random = { next: () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647 }
  /** The fault of the calls of each replica. */
  const faults = new Map<string, (method: string) => LeaseFault>()
  let caller = ''
  server.fault = ({ method }) => faults.get(caller)?.(method)

  function start(identity: string, beforeRelease?: () => Promise<unknown>) {
    /** The time by which the monotonic clock has stopped, and by which the wall clock is wrong. */
    const off = { stoppedMs: 0, wallMs: 0 }
    const own: Clock = { ...clock, now: () => clock.now() - off.stoppedMs, wallNow: () => clock.wallNow() + off.wallMs }
    const by =
      <A extends unknown[], T>(method: (...args: A) => Promise<T>) =>
      (...args: A): Promise<T> => {
        caller = identity
        return method(...args)
      }
    const { client } = server
    const stopping = new AbortController()
    const told: boolean[] = []
    const errors: Error[] = []
    const leader = electLeader({
      client: { ...client, get: by(client.get), create: by(client.create), replace: by(client.replace) },
      clock: own,
      random,
      namespace: 'shop',
      name: 'sluice-statefulset-web',
      identity,
      signal: stopping.signal,
      onChange: (isLeader) => told.push(isLeader),
      onError: (error) => errors.push(error),
      ...(beforeRelease && { beforeRelease }),
    })
    return {
      ...leader,
      told,
      errors,
      off,
      /** The process ends: nothing of it is sent any more. */
      kill: () => faults.set(identity, () => 'unsent'),
      fail: (fault: ((method: string) => LeaseFault) | undefined) =>
        fault ? faults.set(identity, fault) : faults.delete(identity),
      async stop() {
        stopping.abort()
        await clock.advance(0)
      },
    }
  }
  return { clock, server, random, start }
}

test('a Lease that was given back is taken at once, and renewed', async () => {
  const { clock, server, start } = setUp()
  server.write(GIVEN_BACK)
  const a = start('a')
  expect(a.isLeader()).toBe(false)
  expect(() => a.assertLeader()).toThrow(NotLeading)
  await clock.settle()
  expect([a.isLeader(), a.told, a.holder()]).toEqual([true, [true], 'a'])
  expect(server.lease()?.spec).toMatchObject({ holderIdentity: 'a', leaseTransitions: 5, leaseDurationSeconds: 15 })
  a.assertLeader()
  await clock.advance(600_000)
  expect([a.isLeader(), a.told, a.errors]).toEqual([true, [true], []])
})

test('without a Lease, the first leader waits for a life of it: a Lease that was deleted may still be held', async () => {
  const { clock, server, start } = setUp()
  const a = start('a')
  await clock.advance(LIFE_MS - 1)
  expect([server.lease(), a.isLeader()]).toEqual([undefined, false])
  await clock.advance(4_000)
  expect([server.lease()?.spec.holderIdentity, a.isLeader()]).toEqual(['a', true])
})

test('a Lease that is renewed is waited for, whatever its times say', async () => {
  const { clock, server, start } = setUp()
  server.write(GIVEN_BACK)
  const a = start('a')
  await clock.settle()
  // The wall clock of the owner is years behind, so that each of its times seems to be over.
  a.off.wallMs = -1e11
  const b = start('b')
  b.off.wallMs = 1e11
  await clock.advance(120_000)
  expect([a.isLeader(), b.isLeader(), b.told, b.holder()]).toEqual([true, false, [], 'a'])
})

test('a Lease without renewals is taken after its life, and never before its holder stops to lead', async () => {
  const { clock, server, start } = setUp()
  server.write(GIVEN_BACK)
  const a = start('a')
  const b = start('b')
  await clock.advance(10_000)
  a.kill()
  const killedAt = clock.now()
  while (!b.isLeader()) {
    await clock.advance(100)
    expect([a, b].filter((one) => one.isLeader()).length).toBeLessThanOrEqual(1)
    expect(clock.now() - killedAt).toBeLessThan(LIFE_MS + 8_000)
  }
  expect([a.told, b.told]).toEqual([[true, false], [true]])
  expect(server.lease()?.spec.leaseTransitions).toBe(6)
  // The former leader comes back, and does not lead.
  a.fail(undefined)
  await clock.advance(30_000)
  expect([a.isLeader(), a.holder(), b.isLeader()]).toEqual([false, 'b', true])
})

test('the Lease is given back at the end, after the last writes, and another replica need not wait', async () => {
  const { clock, server, start } = setUp()
  server.write(GIVEN_BACK)
  const writes = Promise.withResolvers<void>()
  const a = start('a', () => writes.promise)
  const b = start('b')
  await clock.advance(5_000)
  await a.stop()
  expect([a.isLeader(), a.told, server.lease()?.spec.holderIdentity]).toEqual([false, [true, false], 'a'])
  await clock.advance(3_000)
  writes.resolve()
  await clock.advance(0)
  await a.ended
  expect(server.lease()?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 })
  await clock.advance(3_000)
  expect(b.isLeader()).toBe(true)
})

test('a release is repeated through a short outage, and over a renewal without an answer', async () => {
  for (const fault of ['lost', 'unanswered', 'unsent'] as const) {
    const { clock, server, start } = setUp()
    server.write(GIVEN_BACK)
    const a = start('a')
    await clock.advance(3_900)
    let times = 0
    a.fail((method) => (method === 'PUT' && (times += 1) <= 2 ? fault : undefined))
    await clock.advance(200)
    await a.stop()
    await clock.advance(5_000)
    await a.ended
    expect([fault, server.lease()?.spec.holderIdentity]).toEqual([fault, ''])
  }
})

test('a write without an answer: the Lease counts from a write that was answered', async () => {
  const { clock, server, start } = setUp()
  server.write(GIVEN_BACK)
  const a = start('a')
  a.fail((method) => (method === 'PUT' ? 'unanswered' : undefined))
  await clock.advance(8_000)
  expect([server.lease()?.spec.holderIdentity, a.isLeader()]).toEqual(['a', false])
  a.fail(undefined)
  await clock.advance(3_000)
  expect([a.isLeader(), a.told]).toEqual([true, [true]])
  // Renewals without an answer do not put off the end of the right.
  a.fail((method) => (method === 'PUT' ? 'unanswered' : undefined))
  await clock.advance(LEASE_DURATION_MS)
  expect([server.lease()?.spec.holderIdentity, a.isLeader(), a.told]).toEqual(['a', false, [true, false]])
  a.fail(undefined)
  await clock.advance(3_000)
  expect([a.isLeader(), a.told]).toEqual([true, [true, false, true]])
})

test('an edit of the Lease costs a renewal and not the lead; edits without end keep no newcomer waiting', async () => {
  const { clock, server, start } = setUp()
  server.write(GIVEN_BACK)
  const a = start('a')
  const b = start('b')
  await clock.advance(5_000)
  for (let times = 0; times < 50; times += 1) {
    server.annotate('example.dev/note', String(times))
    await clock.advance(700)
    expect(a.isLeader()).toBe(true)
  }
  expect([a.told, a.errors]).toEqual([[true], []])
  expect(server.lease()?.metadata.annotations).toEqual({ 'example.dev/note': '49' })
  a.kill()
  for (let times = 0; times < 40; times += 1) {
    server.annotate('example.dev/note', `again ${times}`)
    await clock.advance(700)
  }
  expect([a.isLeader(), b.isLeader()]).toEqual([false, true])
})

test('a Lease that is deleted, taken away or cleared by hand ends the lead, and no two lead', async () => {
  for (const write of [undefined, { holderIdentity: 'kubectl' }, { holderIdentity: '' }]) {
    const { clock, server, start } = setUp()
    server.write(GIVEN_BACK)
    const a = start('a')
    await clock.advance(5_000)
    server.write(write)
    const b = start('b')
    let both = 0
    let ledBy = ''
    for (let times = 0; times < 300; times += 1) {
      await clock.advance(100)
      if (a.isLeader() && b.isLeader()) both += 1
      ledBy = a.isLeader() ? 'a' : b.isLeader() ? 'b' : ''
    }
    expect([both, a.told.slice(0, 2), ['a', 'b'].includes(ledBy)]).toEqual([0, [true, false], true])
  }
})

test('a process whose machine slept does not lead, though its monotonic clock has stopped meanwhile', async () => {
  const { clock, server, start } = setUp()
  server.write(GIVEN_BACK)
  const a = start('a')
  await clock.advance(5_000)
  const b = start('b')
  await clock.advance(1_000)
  a.kill()
  await clock.advance(40_000)
  a.off.stoppedMs = 40_000
  expect([a.isLeader(), b.isLeader()]).toEqual([false, true])
})

test('a wall clock that is set forward costs a renewal; one that is set back costs nothing', async () => {
  const { clock, server, start } = setUp()
  server.write(GIVEN_BACK)
  const a = start('a')
  await clock.advance(5_000)
  a.off.wallMs = 3_600_000
  expect(a.isLeader()).toBe(false)
  await clock.advance(1)
  expect([a.isLeader(), a.told]).toEqual([true, [true]])
  a.off.wallMs = -3_600_000
  for (let times = 0; times < 60; times += 1) {
    await clock.advance(500)
    expect(a.isLeader()).toBe(true)
  }
  // The monotonic clock still ends the lead.
  a.off.wallMs = -7_200_000
  a.kill()
  await clock.advance(LEASE_DURATION_MS)
  expect(a.isLeader()).toBe(false)
})

test('a missing right is told, and asked for again', async () => {
  const { clock, server, start } = setUp()
  server.write(GIVEN_BACK)
  const a = start('a')
  a.fail(() => 'begun')
  await clock.advance(60_000)
  expect([a.isLeader(), a.errors.length]).toEqual([false, 7])
  a.fail(undefined)
  await clock.advance(11_000)
  expect(a.isLeader()).toBe(true)
})

test('a process that has the name of another one waits for it', async () => {
  const { clock, server, start } = setUp()
  server.write({ holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: 'once' })
  const a = start('a')
  await clock.advance(LIFE_MS - 1)
  expect(a.isLeader()).toBe(false)
  await clock.advance(4_000)
  expect(a.isLeader()).toBe(true)
})

test('with any faults, restarts and edits, no two replicas lead at once, and one leads in the end', async () => {
  let leads = 0
  for (let round = 0; round < 60; round += 1) {
    const { clock, server, start } = setUp()
    let seed = round * 7_919 + 1
    const roll = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    if (roll(2) === 0) server.write(GIVEN_BACK)
    const replicas = ['a', 'b', 'c'].map((identity) => start(identity))
    const FAULTS: LeaseFault[] = ['lost', 'unanswered', 'unsent', 'begun', 'gateway', undefined]
    for (let step = 0; step < 120; step += 1) {
      const one = replicas[roll(replicas.length)]!
      const what = roll(12)
      if (what < 4) {
        const fault = FAULTS[roll(FAULTS.length)]
        one.fail(fault && (() => (roll(3) > 0 ? fault : undefined)))
      } else if (what < 6) one.fail(undefined)
      else if (what === 6) one.off.wallMs += (roll(2) === 0 ? -1 : 1) * roll(40_000)
      else if (what === 7 && server.lease()) server.annotate('example.dev/note', String(step))
      else if (what === 8 && roll(4) === 0) server.write(undefined)
      else if (what === 9 && server.lease()) server.write({ ...server.lease()!.spec, holderIdentity: '' })
      else if (what === 10 && roll(3) === 0) {
        await one.stop()
        replicas[replicas.indexOf(one)] = start(`${round}-${step}`)
      }
      const until = clock.now() + roll(6_000)
      while (clock.now() < until) {
        await clock.advance(Math.min(250, until - clock.now()))
        const leading = replicas.filter((replica) => replica.isLeader()).length
        leads += leading
        expect([round, step, leading <= 1]).toEqual([round, step, true])
      }
    }
    for (const one of replicas) one.fail(undefined)
    await clock.advance(2 * LIFE_MS + 12_000)
    expect([round, replicas.filter((one) => one.isLeader()).length]).toEqual([round, 1])
  }
  expect(leads).toBeGreaterThan(1_000)
})
