import * as fc from 'fast-check'
import { DAEMON_SET } from '../../workloads/kinds/daemon-set.ts'
import { POD } from '../../workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { RunError } from '../errors.ts'
import { reasonWords } from '../../report/words/words.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { VirtualClock } from '../../kube/testing/virtual-clock.ts'
import { LARGEST_EPOCH, LEASE_DURATION_MS, leaseRecord, LONGEST_DURATION_MS, RENEW_EVERY_MS } from '../../leases/lease.ts'
import { leaseName } from './lease-name.ts'
import type { Order } from '../orders/order.ts'
import { ORDER_ANNOTATION, orderFor, readOrder, writeOrder } from '../orders/order.ts'
import type { Ownership } from './hold-lease.ts'
import type { OwnershipOptions, SeenLease } from './ownership.ts'
import type { LeaseServer } from '../testing/lease-server.ts'
import { createLeaseServer } from '../testing/lease-server.ts'
import { takeLease } from '../testing/take-lease.ts'

interface Bed {
  clock: VirtualClock
  server: LeaseServer
  stop: AbortController
  told: string[]
  take(options?: Partial<OwnershipOptions>): Promise<Ownership>
  /** Lets time pass until the promise settles. */
  settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>>
  held(options?: Partial<OwnershipOptions>): Promise<Ownership>
}

function createBed(): Bed {
  const clock = createVirtualClock()
  const server = createLeaseServer()
  const stop = new AbortController()
  const told: string[] = []
  const bed: Bed = {
    clock,
    server,
    stop,
    told,
    take: (options) =>
      takeLease(
        { clock, server },
        {
          signal: stop.signal,
          onWaiting: (holder, remainingMs) => told.push(`waiting for ${holder} ${remainingMs}`),
          onRegained: async () => void told.push('regained'),
          onLost: (reason) => told.push(`lost: ${reasonWords(reason)}`),
          onOrder: () => told.push('order'),
          onTrouble: (error) => told.push(`trouble ${error.message}`),
          ...options,
        },
      ),
    async settled(promise) {
      let result: PromiseSettledResult<Awaited<typeof promise>> | undefined
      void Promise.allSettled([promise]).then(([one]) => (result = one))
      await clock.runUntil(() => result !== undefined)
      return result!
    },
    async held(options) {
      const result = await bed.settled(bed.take(options))
      if (result.status === 'rejected') throw result.reason
      return result.value
    },
  }
  return bed
}

const other = (transitions = 4) => ({ holderIdentity: 'other', leaseTransitions: transitions, leaseDurationSeconds: 15 })
const givenBack = (transitions = 4) => ({ holderIdentity: '', leaseTransitions: transitions, leaseDurationSeconds: 1 })
const cleared = { ...other(), holderIdentity: '' }

describe('taking', () => {
  test('a Lease that nobody has made: the first epoch', async () => {
    const { held, server } = createBed()
    const ownership = await held()
    expect([ownership.epoch, ownership.isHeld()]).toEqual([1, true])
    expect(server.lease()!.spec).toMatchObject({ holderIdentity: 'me', leaseTransitions: 1, leaseDurationSeconds: 15 })
    expect(server.lease()!.spec.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    expect(server.calls).toEqual(['GET', 'POST'])
  })

  test('one that was given back: at once, with the next epoch', async () => {
    const { held, server, told } = createBed()
    server.write(givenBack())
    expect((await held()).epoch).toBe(5)
    expect(told).toEqual([])
  })

  test('never below an epoch that a journal has seen', async () => {
    const { take, server, settled } = createBed()
    server.write(givenBack())
    expect(await settled(take({ epochFloor: () => 41 }))).toMatchObject({ value: { epoch: 42 } })
  })

  test('a dead owner’s: after one life and a pause on the own clock, whatever its time says', async () => {
    const { clock, held, server, told } = createBed()
    server.write({ ...other(), renewTime: '1970-01-01T00:00:00.000000Z' })
    const from = clock.now()
    expect((await held()).epoch).toBe(5)
    expect(clock.now() - from).toBe(LEASE_DURATION_MS + 1_000)
    expect(told[0]).toBe('waiting for other 16000')
    expect(told.at(-1)).toBe('waiting for other 1000')
  })

  test.each([
    { name: 'where a journal has seen an epoch', given: { epochFloor: 12 }, epoch: 13 },
    { name: 'where it was seen before', given: { seen: true }, epoch: 5 },
    { name: 'where its owner has written a journal since', given: { epochFloor: 12, written: 15 }, epoch: 16 },
    { name: 'where what else is on record tells of it', given: { hadOwner: true }, epoch: 2 },
  ])('one that somebody has deleted, $name: its owner may live for one life more', async ({ given, epoch }) => {
    const { clock, server, settled, take, told } = createBed()
    server.write(other())
    const seen: SeenLease = { record: leaseRecord(server.lease()), since: clock.now(), once: true }
    server.write(undefined)
    const from = clock.now()
    const { epochFloor = 0, written = epochFloor, hadOwner = false } = given
    let known = epochFloor
    const options = {
      epochFloor: () => known,
      readJournals: async () => void (known = written),
      hadOwner: async () => hadOwner,
      seen: 'seen' in given ? seen : undefined,
    }
    expect(await settled(take(options))).toMatchObject({ value: { epoch } })
    expect(clock.now() - from).toBe(LEASE_DURATION_MS + 1_000)
    expect([told[0], told.at(-1)]).toEqual(['waiting for  16000', 'waiting for  1000'])
  })

  test('one whose owner came and went while this one’s own try was on its way: its life counts from when that is known', async () => {
    const { clock, server, settled, take } = createBed()
    let hadOwner = false
    server.fault = ({ method }) => (method === 'POST' && !hadOwner ? 'lost' : undefined)
    clock.setTimeout(() => (hadOwner = true), 10_000)
    const from = clock.now()
    expect(await settled(take({ hadOwner: async () => hadOwner }))).toMatchObject({ status: 'fulfilled' })
    expect(clock.now() - from).toBe(10_000 + LEASE_DURATION_MS + 1_000)
  })

  test('another owner has come and gone while one was waited out: its life counts from when that is known', async () => {
    const { clock, settled, take } = createBed()
    let epochFloor = 3
    clock.setTimeout(() => (epochFloor = 4), 10_000)
    const from = clock.now()
    expect(await settled(take({ epochFloor: () => epochFloor }))).toMatchObject({ value: { epoch: 5 } })
    expect(clock.now() - from).toBe(10_000 + LEASE_DURATION_MS + 1_000)
  })

  test('one that is deleted while it is waited for: its owner may have renewed it right before', async () => {
    const { clock, held, server } = createBed()
    server.write(other())
    clock.setTimeout(() => server.write(undefined), 4_500)
    const from = clock.now()
    await held()
    expect(clock.now() - from).toBe(5_000 + LEASE_DURATION_MS + 1_000)
  })

  test('one that is deleted as it is taken is not made anew by that', async () => {
    const { clock, held, server } = createBed()
    server.write(givenBack())
    const from = clock.now()
    server.fault = ({ method, index }) => {
      if (method === 'PUT' && index === 1) server.write(undefined)
      return undefined
    }
    await held()
    expect(clock.now() - from).toBe(LEASE_DURATION_MS + 1_000)
  })

  test.each([
    { seconds: 2_147_483_647, ms: LONGEST_DURATION_MS },
    { seconds: 1, ms: LEASE_DURATION_MS },
    { seconds: 0, ms: LEASE_DURATION_MS },
    { seconds: -5, ms: LEASE_DURATION_MS },
    { seconds: undefined, ms: LEASE_DURATION_MS },
  ])('a life of $seconds s that somebody has written is not believed', async ({ seconds, ms }) => {
    const { clock, held, server } = createBed()
    const { leaseDurationSeconds: _, ...rest } = other()
    server.write(seconds === undefined ? rest : { ...rest, leaseDurationSeconds: seconds })
    const from = clock.now()
    await held()
    expect(clock.now() - from).toBe(ms + 1_000)
  })

  test('one whose count is at its end: refused, with the way out', async () => {
    const { server, settled, take } = createBed()
    const spec = givenBack(LARGEST_EPOCH)
    server.write(spec)
    expect(await settled(take({ epochFloor: () => 13 }))).toMatchObject({
      reason: {
        kind: 'preflight',
        reason: {
          code: 'lease-counted-out',
          lease: 'sluice-statefulset-web',
          transitions: LARGEST_EPOCH,
          setBack: {
            command: 'kubectl',
            namespace: 'shop',
            args: ['patch', 'lease', 'sluice-statefulset-web', '--type', 'merge', '-p', '{"spec":{"leaseTransitions":13}}'],
          },
        },
      },
    })
    expect([server.lease()!.spec, server.calls]).toEqual([spec, ['GET']])
  })

  test('an epoch of a journal that no Lease can count: refused before anything is asked', async () => {
    const { server, settled, take } = createBed()
    expect(await settled(take({ epochFloor: () => Number.MAX_SAFE_INTEGER }))).toMatchObject({
      reason: { kind: 'preflight', reason: { code: 'epoch-too-large', epoch: Number.MAX_SAFE_INTEGER } },
    })
    expect(server.calls).toEqual([])
  })

  test('the largest epoch there can be is taken', async () => {
    const { settled, take } = createBed()
    expect(await settled(take({ epochFloor: () => LARGEST_EPOCH - 1 }))).toMatchObject({ value: { epoch: LARGEST_EPOCH } })
  })

  test('another’s that has this process’s name is waited out all the same', async () => {
    const { clock, held, server } = createBed()
    server.write({ ...other(), holderIdentity: 'me' })
    const from = clock.now()
    await held()
    expect(clock.now() - from).toBe(LEASE_DURATION_MS + 1_000)
  })

  test('its own, longer life counts', async () => {
    const { clock, held, server } = createBed()
    server.write({ ...other(), leaseDurationSeconds: 60 })
    const from = clock.now()
    await held()
    expect(clock.now() - from).toBe(61_000)
  })

  test.each([
    { order: 'pause', pausedBy: { pausedBy: 'ann' } },
    { order: 'abort', pausedBy: {} },
  ] as const)('a living owner’s, with the order to $order: whether it will be over by itself', async ({ order, pausedBy }) => {
    const { clock, take, server, settled } = createBed()
    server.write(other())
    server.annotate(ORDER_ANNOTATION, writeOrder({ order, runs: ['r1'], by: 'ann' }))
    clock.setTimeout(() => server.write(other()), 4_500)
    const { reason } = (await settled(take())) as PromiseRejectedResult
    expect((reason as RunError).reason).toEqual({
      code: 'lease-held',
      lease: 'sluice-statefulset-web',
      holder: 'other',
      ...pausedBy,
    })
  })

  test('a living owner’s: a conflict that names it, at its first renewal', async () => {
    const { clock, take, server, settled } = createBed()
    server.write(other())
    clock.setTimeout(() => server.write(other()), 4_500)
    expect(await settled(take())).toMatchObject({
      status: 'rejected',
      reason: {
        kind: 'conflict',
        holder: 'other',
        reason: { code: 'lease-held', lease: 'sluice-statefulset-web', holder: 'other' },
      },
    })
    expect(server.lease()!.spec.holderIdentity).toBe('other')
  })

  test('given back while it is waited for: taken', async () => {
    const { clock, held, server } = createBed()
    server.write(other())
    clock.setTimeout(() => server.write(givenBack()), 2_500)
    const from = clock.now()
    expect((await held()).epoch).toBe(5)
    expect(clock.now() - from).toBe(3_000)
  })

  test('somebody is faster: looked at anew, for a whole life', async () => {
    const { clock, held, server } = createBed()
    server.write(givenBack())
    server.fault = ({ method, index }) => {
      if (method === 'PUT' && index === 1) server.write(other(5))
      return undefined
    }
    const from = clock.now()
    expect((await held()).epoch).toBe(6 + 0)
    expect(clock.now() - from).toBe(LEASE_DURATION_MS + 1_000)
  })

  test('two at once: one of them', async () => {
    const { take, server, settled } = createBed()
    const both = await settled(Promise.allSettled([take({ holder: 'a' }), take({ holder: 'b' })]))
    const outcomes = both.status === 'fulfilled' ? both.value.map(({ status }) => status) : []
    expect(outcomes.toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(['a', 'b']).toContain(server.lease()!.spec.holderIdentity)
  })

  test.each([
    { name: 'it arrived', fault: 'unanswered' as const, epoch: 5, puts: 1 },
    { name: 'it did not', fault: 'lost' as const, epoch: 5, puts: 2 },
  ])('the answer is lost: $name', async ({ fault, epoch, puts }) => {
    const { held, server } = createBed()
    server.write(givenBack())
    server.fault = ({ method, index }) => (method === 'PUT' && index === 1 ? fault : undefined)
    expect((await held()).epoch).toBe(epoch)
    expect(server.calls.filter((method) => method === 'PUT')).toHaveLength(puts)
  })

  test.each([
    { what: 'nobody had', given: undefined, known: { floor: 0, isFirst: true } },
    { what: 'another had', given: givenBack(), known: { floor: 4, isFirst: false } },
  ])('what was known when it was first asked for, where $what it: its own try is no other owner', async ({ given, known }) => {
    const { server, held } = createBed()
    if (given) server.write(given)
    server.fault = ({ index }) => {
      // The first try arrives late, after one look for it.
      if (index === 3) server.write({ holderIdentity: 'me', leaseTransitions: known.floor + 1 })
      return index === 1 ? 'lost' : undefined
    }
    const { floor, isFirst, epoch } = await held()
    expect([{ floor, isFirst }, epoch]).toEqual([known, known.floor + 2])
  })

  test('one whose holder somebody has cleared: its owner may live, and is waited for', async () => {
    const { clock, held, server, told } = createBed()
    server.write(cleared)
    const from = clock.now()
    expect((await held()).epoch).toBe(5)
    expect(clock.now() - from).toBe(LEASE_DURATION_MS + 1_000)
    expect(told[0]).toBe(`waiting for  ${LEASE_DURATION_MS + 1_000}`)
  })

  test.each([
    { seen: 'when it is waited for', once: {} },
    { seen: 'before', once: { once: true as const } },
  ])('one that is cleared after it was seen ($seen): counted from then', async ({ once }) => {
    const { clock, held, server } = createBed()
    server.write(other())
    const seen = { record: leaseRecord(server.lease()), since: clock.now(), ...once }
    clock.setTimeout(() => server.write(cleared), 4_500)
    const from = clock.now()
    expect((await held({ seen })).epoch).toBe(5)
    expect(clock.now() - from).toBe(5_000 + LEASE_DURATION_MS + 1_000)
  })

  test('the answer is lost, and somebody edits its count before it is looked at: the epoch is what was written', async () => {
    const { held, server } = createBed()
    server.write(givenBack())
    server.fault = ({ method, index }) => {
      if (index === 2) server.write({ ...server.lease()!.spec, leaseTransitions: 0 })
      return method === 'PUT' && index === 1 ? 'unanswered' : undefined
    }
    expect((await held()).epoch).toBe(5)
  })

  test.each(['unsent', 'lost'] as const)(
    'the API server is away for a moment when it is taken (%s): taken then',
    async (fault) => {
      const { clock, held, server } = createBed()
      server.write(other())
      const from = clock.now()
      let awaySince: number | undefined
      server.fault = ({ method }) => {
        if (method === 'PUT') awaySince ??= clock.now()
        return awaySince !== undefined && clock.now() - awaySince < 3_000 ? fault : undefined
      }
      expect((await held()).epoch).toBe(5)
      // The dead owner is not waited for again.
      expect(clock.now() - from).toBeLessThan(LEASE_DURATION_MS + 1_000 + 5_000)
    },
  )

  test('no write is ever done: told, and given up after a while', async () => {
    const { take, server, settled } = createBed()
    server.write(givenBack())
    server.fault = ({ method }) => (method === 'PUT' ? 'lost' : undefined)
    expect(await settled(take())).toMatchObject({ status: 'rejected', reason: { kind: 'ambiguous', method: 'PUT' } })
    expect(server.calls.filter((method) => method === 'PUT').length).toBeLessThan(20)
  })

  test('given up while it waits', async () => {
    const { clock, take, server, stop, settled } = createBed()
    server.write(other())
    clock.setTimeout(() => stop.abort(new Error('interrupted')), 2_200)
    expect(await settled(take())).toMatchObject({ status: 'rejected', reason: { message: 'interrupted' } })
    expect(server.lease()!.spec.holderIdentity).toBe('other')
    expect(clock.pending()).toBe(0)
  })
})

describe('holding', () => {
  test('is renewed several times in its life, with the same epoch', async () => {
    const { clock, held, server, told } = createBed()
    const ownership = await held()
    await clock.advance(60_000)
    expect(ownership.isHeld()).toBe(true)
    expect(server.calls.filter((method) => method === 'PUT')).toHaveLength(15)
    expect(server.lease()!.spec).toMatchObject({ holderIdentity: 'me', leaseTransitions: 1 })
    expect(told).toEqual([])
  })

  test('lost when another holds it, and never renewed again', async () => {
    const { clock, held, server, told } = createBed()
    const ownership = await held()
    server.write(other(2))
    await clock.advance(5_000)
    expect(told.at(-1)).toMatch(/^lost: other has taken the Lease /)
    expect(ownership.isHeld()).toBe(false)
    await clock.advance(60_000)
    await ownership.release()
    expect(server.lease()!.spec).toEqual(other(2))
    expect(told.filter((one) => one.startsWith('lost'))).toHaveLength(1)
  })

  test.each([
    { name: 'deleted', spec: undefined, says: 'was deleted' },
    { name: 'cleared', spec: { ...other(2), holderIdentity: '' }, says: 'is nobody’s any more: another owner has given it back' },
  ])('lost when it is $name', async ({ spec, says }) => {
    const { clock, held, server, told } = createBed()
    const ownership = await held()
    server.write(spec)
    await clock.advance(5_000)
    expect(told.at(-1)).toContain(says)
    expect(ownership.isHeld()).toBe(false)
  })

  test.each(['renewed', 'given back'])('one that was deleted is not made anew when it is %s', async (when) => {
    const { clock, held, server } = createBed()
    const ownership = await held()
    server.write(undefined)
    if (when === 'given back') await ownership.release()
    else await clock.advance(30_000)
    expect([server.lease(), ownership.isHeld(), clock.pending()]).toEqual([undefined, false, 0])
  })

  test.each([0, 99])('somebody sets its count to %d: the epoch stands, and is written back', async (leaseTransitions) => {
    const { clock, settled, server, take } = createBed()
    const { value } = (await settled(take({ epochFloor: () => 12 }))) as PromiseFulfilledResult<Ownership>
    server.write({ ...server.lease()!.spec, leaseTransitions })
    await clock.advance(6_000)
    expect([server.lease()!.spec.leaseTransitions, value.epoch, value.isHeld()]).toEqual([13, 13, true])
    server.write({ ...server.lease()!.spec, leaseTransitions })
    await value.release()
    expect(server.lease()!.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 13 })
  })

  test.each(['lost', 'unanswered', 'unsent'] as const)(
    'a renewal that fails once (%s) is tried again, and it stays held',
    async (fault) => {
      const { clock, held, server, told } = createBed()
      const ownership = await held()
      let failures = 0
      server.fault = ({ method }) => (method === 'PUT' && failures++ === 0 ? fault : undefined)
      await clock.advance(14_000)
      expect(ownership.isHeld()).toBe(true)
      await clock.advance(20_000)
      expect(ownership.isHeld()).toBe(true)
      expect(told.some((one) => one.startsWith('lost'))).toBe(false)
    },
  )

  test('somebody annotates it: read anew, and held on', async () => {
    const { clock, held, server, told } = createBed()
    const ownership = await held()
    server.write({ ...server.lease()!.spec })
    await clock.advance(40_000)
    expect(ownership.isHeld()).toBe(true)
    expect(told.filter((one) => one.startsWith('lost'))).toEqual([])
  })

  test('not held once its life is over without a renewal, and again after one', async () => {
    const { clock, held, server, told } = createBed()
    const ownership = await held()
    server.fault = () => 'lost'
    await clock.advance(LEASE_DURATION_MS - 1)
    expect(ownership.isHeld()).toBe(true)
    await clock.advance(1)
    expect(ownership.isHeld()).toBe(false)
    server.fault = () => undefined
    await clock.advance(1_000)
    expect([ownership.isHeld(), told.filter((one) => one === 'regained')]).toEqual([true, ['regained']])
    await clock.advance(LEASE_DURATION_MS)
    expect(told.filter((one) => one === 'regained')).toHaveLength(1)
  })

  test('after its life was over it counts again only once the world was looked at anew', async () => {
    const { clock, take, server, settled } = createBed()
    let look: () => void = () => {}
    let looks = 0
    const onRegained = (): Promise<void> => {
      looks += 1
      return new Promise((resolve) => (look = resolve))
    }
    const ownership = ((await settled(take({ onRegained }))) as PromiseFulfilledResult<Ownership>).value
    server.fault = () => 'lost'
    await clock.advance(LEASE_DURATION_MS)
    server.fault = () => undefined
    await clock.advance(3_000)
    expect([ownership.isHeld(), looks]).toEqual([false, 1])
    // The renewals go on, so that no other owner takes the Lease. One look is enough, however long it takes.
    const before = server.calls.length
    await clock.advance(10_000)
    expect([ownership.isHeld(), looks]).toEqual([false, 1])
    expect(server.calls.length).toBeGreaterThan(before)
    look()
    await clock.advance(5_000)
    expect([ownership.isHeld(), looks]).toEqual([true, 1])
    await settled(ownership.release())
  })

  test('not held after a stall of the process, before anything has run', async () => {
    const { clock, held, server, take, told } = createBed()
    let stalledMs = 0
    const ownership = await held()
    const stalling = { ...clock, now: () => clock.now() + stalledMs }
    server.write(givenBack(1))
    const stalled = await take({ holder: 'stalled', clock: stalling })
    expect(stalled.isHeld()).toBe(true)
    stalledMs = LEASE_DURATION_MS
    expect(stalled.isHeld()).toBe(false)
    await ownership.release()
    expect(told.some((one) => one.startsWith('trouble'))).toBe(true)
  })

  test('its life counts from before the renewal was sent', async () => {
    const { clock, held, server } = createBed()
    const replace = server.client.replace.bind(server.client)
    const ownership = await held()
    server.client.replace = async (...call) => {
      const answer = await replace(...call)
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, 4_000))
      server.fault = () => 'lost'
      return answer
    }
    // The renewal was sent after 4 s and answered after 8 s, and no other one was.
    await clock.advance(4_000 + LEASE_DURATION_MS - 1)
    expect(ownership.isHeld()).toBe(true)
    await clock.advance(1)
    expect(ownership.isHeld()).toBe(false)
  })
})

describe('time that this process did not see', () => {
  /** Holds the Lease with clocks that the test moves forward. */
  async function stopped(onRegained: () => Promise<void> = async () => {}) {
    const bed = createBed()
    let ownership: Ownership | undefined
    const missed = { monotonic: 0, wall: 0 }
    const clock: OwnershipOptions['clock'] = {
      ...bed.clock,
      now: () => bed.clock.now() + missed.monotonic,
      wallNow: () => bed.clock.wallNow() + missed.wall,
    }
    void bed.take({ clock, onRegained }).then((taken) => (ownership = taken))
    await bed.clock.runUntil(() => ownership !== undefined)
    return { ...bed, missed, ownership: ownership! }
  }

  test('the machine slept, and its monotonic clock stood still: not held before a renewal and look, made at once', async () => {
    const { clock, missed, ownership } = await stopped()
    missed.wall = 600_000
    expect(ownership.isHeld()).toBe(false)
    await clock.advance(1)
    expect(ownership.isHeld()).toBe(true)
  })

  test('a renewal at once that fails is tried again at the usual pace, however often it is asked for', async () => {
    const { clock, missed, ownership, server } = await stopped()
    server.fault = () => 'lost'
    missed.wall = 600_000
    const before = server.calls.length
    for (let asked = 0; asked < 18; asked++) {
      expect(ownership.isHeld()).toBe(false)
      await clock.advance(50)
    }
    expect(server.calls.length - before).toBe(1)
    server.fault = () => undefined
    await clock.advance(1_000)
    expect(ownership.isHeld()).toBe(true)
  })

  test.each(['confirmed', 'due'])('one renewal is made at a time, where it is %s as well as asked for', async (how) => {
    const { clock, missed, ownership, server, told } = await stopped()
    const replace = server.client.replace.bind(server.client)
    server.client.replace = async (...call) => {
      const answer = await replace(...call)
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, 100))
      return answer
    }
    const before = server.calls.length
    missed.wall = 600_000
    if (how === 'confirmed') void ownership.confirm()
    else await clock.advance(4_000)
    expect(ownership.isHeld()).toBe(false)
    await clock.advance(200)
    expect([ownership.isHeld(), server.calls.slice(before), told]).toEqual([true, ['PUT'], []])
  })

  test('its wall clock is set back: held as before', async () => {
    const { missed, ownership } = await stopped()
    missed.wall = -600_000
    expect(ownership.isHeld()).toBe(true)
  })

  test('a look that was over before it was stopped once more counts for nothing', async () => {
    const looks: (() => void)[] = []
    const { clock, missed, ownership } = await stopped(() => new Promise((resolve) => looks.push(resolve)))
    missed.monotonic += LEASE_DURATION_MS
    // A renewal waits for the look, and is given up.
    await clock.advance(8_100)
    expect([looks.length, ownership.isHeld()]).toEqual([1, false])
    looks[0]!()
    await clock.settle()
    missed.monotonic += 60_000
    await clock.advance(1_000)
    expect([looks.length, ownership.isHeld()]).toEqual([2, false])
    looks[1]!()
    await clock.advance(1_000)
    expect(ownership.isHeld()).toBe(true)
  })
})

describe('confirming', () => {
  test('asks nobody while it is held', async () => {
    const { held, server } = createBed()
    const ownership = await held()
    expect([await ownership.confirm(), server.calls]).toEqual([true, ['GET', 'POST']])
  })

  test('after a stall: renewed where nobody has taken it, and told where somebody has', async () => {
    for (const taken of [false, true]) {
      const { clock, take, server, settled, told } = createBed()
      let stalledMs = 0
      const result = await settled(take({ clock: { ...clock, now: () => clock.now() + stalledMs } }))
      const ownership = (result as PromiseFulfilledResult<Ownership>).value
      stalledMs = LEASE_DURATION_MS
      if (taken) server.write(other(2))
      expect(ownership.isHeld()).toBe(false)
      expect(await settled(ownership.confirm())).toMatchObject({ value: !taken })
      expect(told.filter((one) => one.startsWith('lost: other has taken'))).toHaveLength(taken ? 1 : 0)
    }
  })

  test('where nobody answers it is not held, and not lost', async () => {
    const { clock, held, server, settled, told } = createBed()
    const ownership = await held()
    server.fault = () => 'lost'
    await clock.advance(LEASE_DURATION_MS)
    expect(await settled(ownership.confirm())).toEqual({ status: 'fulfilled', value: undefined })
    expect(told.filter((one) => one.startsWith('lost'))).toEqual([])
  })
})

test('what takes longer than what is left of its life does not begin', async () => {
  const { clock, held, server } = createBed()
  const ownership = await held()
  expect(ownership.isHeld(10_000)).toBe(true)
  server.fault = () => 'lost'
  await clock.advance(5_000)
  expect([ownership.isHeld(), ownership.isHeld(9_999), ownership.isHeld(10_000)]).toEqual([true, true, false])
})

describe('giving back', () => {
  test('left instead, its holder stands, and nobody renews it', async () => {
    const { clock, held, server } = createBed()
    const ownership = await held()
    await ownership.leave()
    const { spec } = server.lease()!
    await clock.advance(LEASE_DURATION_MS)
    expect(server.lease()!.spec).toEqual(spec)
    expect([spec.holderIdentity, ownership.isHeld(), clock.pending()]).toEqual(['me', false, 0])
  })

  test('clears the holder, keeps the epoch, and stops renewing', async () => {
    const { clock, held, server } = createBed()
    const ownership = await held()
    await ownership.release()
    expect(server.lease()!.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 1 })
    expect(ownership.isHeld()).toBe(false)
    expect(clock.pending()).toBe(0)
    const next = await held()
    expect(next.epoch).toBe(2)
  })

  test('waits for a renewal that is under way', async () => {
    const { clock, held, server } = createBed()
    const ownership = await held()
    const replace = server.client.replace.bind(server.client)
    let answer: () => void = () => {}
    server.client.replace = async (...call) => {
      server.client.replace = replace
      await new Promise<void>((resolve) => (answer = resolve))
      return replace(...call)
    }
    await clock.advance(5_000)
    const released = ownership.release()
    answer()
    await released
    expect(server.lease()!.spec.holderIdentity).toBe('')
    expect(clock.pending()).toBe(0)
  })

  test('a renewal whose answer was lost does not keep it from being given back', async () => {
    const { clock, held, server } = createBed()
    const ownership = await held()
    server.fault = ({ method }) => (method === 'PUT' ? 'unanswered' : undefined)
    await clock.advance(5_000)
    server.fault = () => undefined
    await ownership.release()
    expect(server.lease()!.spec.holderIdentity).toBe('')
  })

  test('is tried again while the API server is being restarted', async () => {
    const { clock, held, server, settled, told } = createBed()
    const ownership = await held()
    const deadAt = clock.now() + 2_500
    server.fault = ({ method }) => (method === 'PUT' && clock.now() < deadAt ? 'unsent' : undefined)
    await settled(ownership.release())
    expect(server.lease()!.spec.holderIdentity).toBe('')
    expect([told, clock.pending()]).toEqual([[], 0])
  })

  test('is not tried for longer than a renewal may take, which is told once', async () => {
    const { clock, held, server, settled, told } = createBed()
    const ownership = await held()
    server.fault = ({ method }) => (method === 'PUT' ? 'unsent' : undefined)
    const releasedAt = clock.now()
    await settled(ownership.release())
    expect(clock.now() - releasedAt).toBe(RENEW_EVERY_MS)
    expect(server.lease()!.spec.holderIdentity).toBe('me')
    expect(told).toEqual([expect.stringMatching(/^trouble/)])
  })

  test('that has arrived without an answer is no trouble', async () => {
    const { held, server, settled, told } = createBed()
    const ownership = await held()
    let faults = 1
    server.fault = ({ method }) => (method === 'PUT' && faults-- > 0 ? 'unanswered' : undefined)
    await settled(ownership.release())
    expect(server.lease()!.spec.holderIdentity).toBe('')
    expect(told).toEqual([])
  })

  test('does not throw, and does not take it from another', async () => {
    const { held, server, told } = createBed()
    const ownership = await held()
    server.write(other(2))
    await ownership.release()
    expect(server.lease()!.spec).toEqual(other(2))
    expect(told.at(-1)).toMatch(/^trouble/)
  })
})

describe('an order', () => {
  const pause: Order = { order: 'pause', runs: ['r1'], by: 'ops' }
  const text = writeOrder(pause)

  test('is heard with the next renewal, stays on the Lease, and is no trouble', async () => {
    const { clock, held, server, told } = createBed()
    const ownership = await held()
    expect(ownership.order).toBeUndefined()
    server.annotate(ORDER_ANNOTATION, text)
    server.annotate('team', 'web')
    await clock.advance(LEASE_DURATION_MS / 3)
    expect([ownership.order, told]).toEqual([pause, ['order']])
    await clock.advance(60_000)
    expect(ownership.isHeld()).toBe(true)
    expect(server.lease()!.metadata.annotations).toEqual({ [ORDER_ANNOTATION]: text, team: 'web' })
    expect(told).toEqual(['order'])
  })

  test('that is taken back is gone with the next renewal', async () => {
    const { clock, held, server, told } = createBed()
    const ownership = await held()
    server.annotate(ORDER_ANNOTATION, text)
    await clock.advance(10_000)
    server.annotate(ORDER_ANNOTATION, undefined)
    await clock.advance(10_000)
    expect([ownership.order, told]).toEqual([undefined, ['order', 'order']])
  })

  test('on a dead owner’s Lease is no sign of life, and the next owner has it', async () => {
    const { clock, held, server } = createBed()
    server.write(other())
    const from = clock.now()
    clock.setTimeout(() => server.annotate(ORDER_ANNOTATION, text), 4_500)
    const ownership = await held()
    expect(clock.now() - from).toBe(LEASE_DURATION_MS + 1_000)
    expect(ownership.order).toEqual(pause)
    expect(server.lease()!.metadata.annotations).toEqual({ [ORDER_ANNOTATION]: text })
  })

  test('does not hide that the owner lives', async () => {
    const { clock, take, server, settled } = createBed()
    server.write({ ...other(), renewTime: 'a' })
    clock.setTimeout(() => server.annotate(ORDER_ANNOTATION, text), 4_500)
    clock.setTimeout(() => server.write({ ...other(), renewTime: 'b' }), 4_700)
    expect(await settled(take())).toMatchObject({ status: 'rejected', reason: { kind: 'conflict' } })
  })

  test.each([
    { name: 'goes with the Lease where it is done with', isDone: true, left: { team: 'web' } },
    { name: 'stays where it is not', isDone: false, left: { [ORDER_ANNOTATION]: text, team: 'web' } },
  ])('$name', async ({ isDone, left }) => {
    const { held, server, told } = createBed()
    const ownership = await held()
    // The order came after the last renewal. It is found when the Lease is given back.
    server.annotate('team', 'web')
    server.annotate(ORDER_ANNOTATION, text)
    await ownership.release({ isDone: () => isDone })
    expect(server.lease()).toMatchObject({ spec: { holderIdentity: '' }, metadata: { annotations: left } })
    expect(told).toEqual([])
  })

  test.each(['', '{"v":2,"order":"pause","runs":[],"by":""}', '{"order":"pause"}'])(
    'that nobody understands (%s) is none',
    (bad) => {
      expect(readOrder({ [ORDER_ANNOTATION]: bad })).toBeUndefined()
    },
  )

  test('means the runs that it names, and an abort more than a pause', () => {
    const abort: Order = { ...pause, order: 'abort' }
    expect(orderFor('r1', [undefined, pause])).toBe(pause)
    expect(orderFor('r2', [pause])).toBeUndefined()
    expect(orderFor('r1', [pause, abort])).toBe(abort)
  })
})

test.each([
  { ref: { ...STATEFUL_SET, name: 'web' } as const, name: 'sluice-statefulset-web' },
  { ref: { ...POD, name: 'web-0.a' } as const, name: 'sluice-pod-web-0.a' },
  { ref: { ...DAEMON_SET, name: 'x'.repeat(236) } as const, name: `sluice-daemonset-${'x'.repeat(236)}` },
])('the Lease of $ref.kind $name', ({ ref, name }) => {
  expect(leaseName(ref)).toBe(name)
})

test('the Leases of kinds of other groups have the group, and are names that the API server takes', () => {
  const clones = { group: 'apps.example.dev', kind: 'CloneSet', name: 'web' }
  expect(leaseName(clones)).toBe('sluice-cloneset.apps.example.dev-web')
  expect(leaseName({ ...STATEFUL_SET, group: 'apps.kruise.io', name: 'web' })).toBe('sluice-statefulset.apps.kruise.io-web')
  const long = leaseName({ ...clones, name: `${'x'.repeat(220)}.web` })
  expect(long).toMatch(/^sluice-cloneset\.apps\.example\.dev-x+-[0-9a-f]{8}$/)
  expect(long.length).toBeLessThanOrEqual(253)
})

test('no two workloads share a Lease, wherever the group ends and the name begins', () => {
  const label = fc.constantFrom('a', 'a-a', 'a-a-a')
  const subdomain = fc.array(label, { minLength: 1, maxLength: 2 }).map((labels) => labels.join('.'))
  const group = fc.oneof(fc.constant(''), fc.constant('apps'), subdomain)
  const workload = fc.record({ group, kind: fc.constant('A'), name: subdomain })
  const keyOf = ({ group: of, kind, name }: { group: string; kind: string; name: string }) => `${of}/${kind}/${name}`
  fc.assert(
    fc.property(fc.uniqueArray(workload, { selector: keyOf, maxLength: 60 }), (workloads) => {
      // No kind is in two of the Kubernetes groups that are left out of names.
      const all = workloads.filter((one) => one.group !== '')
      const names = all.map(leaseName)
      expect(new Set(names).size).toBe(names.length)
      expect(names.filter((name) => !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name))).toEqual([])
    }),
  )
})

test.each(['x'.repeat(230), `${'x'.repeat(224)}.${'x'.repeat(5)}`])(
  'the Leases of workloads whose names are long: %s',
  (stem) => {
    const [one, two] = ['-first', '-other'].map((end) => leaseName({ ...DAEMON_SET, name: `${stem}-${stem}${end}`.slice(-250) }))
    expect(one).not.toBe(two)
    for (const name of [one!, two!]) {
      expect(name.length).toBeLessThanOrEqual(253)
      expect(name).toMatch(/^sluice-daemonset-x[x.-]*x-[0-9a-f]{8}$/)
    }
  },
)
