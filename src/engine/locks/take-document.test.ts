import { expect, test } from 'vitest'
import { createRandom } from '../../../test/simulation/random.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createLeaseServer } from '../testing/lease-server.ts'
import { createDocumentTurns, type Wanted } from './take-document.ts'

const WITHIN_MS = 10_000
/** A Lease lives for 15 s, and one second is added, since two clocks do not run exactly alike. */
const DEAD_AFTER_MS = 16_000

function bed() {
  const server = createLeaseServer()
  const clock = createVirtualClock()
  const lock = { client: server.client, namespace: 'shop', document: 'http://edge:8080' }
  const random = createRandom(1)
  const { signal } = new AbortController()
  function process(identity: string) {
    const turns = createDocumentTurns(lock, { clock, random: random.fork(identity), identity })
    return {
      take: (withinMs: number, wanted: Partial<Wanted> = {}) =>
        turns.take({ until: clock.now() + withinMs, assertLive() {}, signal, ...wanted }),
    }
  }
  /** The holder without the part that makes its name unique. */
  const holder = (): string => plain(server.lease()!.spec.holderIdentity ?? '')
  return { server, clock, process, holder }
}

function plain(holder: string): string {
  return holder.replace(/_[a-z2-9]{6}(?= |$)/, '')
}

const named = (holder: string): unknown =>
  holder === '' ? '' : expect.stringMatching(new RegExp(`^${holder.replace(' ', '_[a-z2-9]{6} ')}$`))
const locked = (holder: string) => ({
  kind: 'retryable',
  reason: { code: 'document-locked', lease: expect.any(String) as string, namespace: 'shop', holder: named(holder) },
})

/** The outcome after the clock has run for `ms` milliseconds. */
async function after<Value>({ clock }: ReturnType<typeof bed>, ms: number, asked: Promise<Value>): Promise<Value> {
  asked.catch(() => {})
  await clock.advance(ms)
  return asked
}

test('a Lease that is given back is taken again with one write, and is named after the document', async () => {
  const world = bed()
  const { server, process } = world
  const one = process('one')
  const held = await one.take(WITHIN_MS)
  expect(server.lease()).toMatchObject({
    metadata: { annotations: { 'sluice.dev/document': 'http://edge:8080' } },
    spec: { holderIdentity: named('one 1'), leaseDurationSeconds: 15 },
  })
  await held.giveBack()
  expect(server.lease()!.spec.holderIdentity).toBe('')
  server.calls.length = 0
  await one.take(WITHIN_MS)
  expect(server.calls).toEqual(['PUT'])
  expect(server.lease()!.spec).toMatchObject({ holderIdentity: named('one 2'), leaseTransitions: 2 })
})

test('another process waits until the Lease is given back', async () => {
  const world = bed()
  const held = await world.process('one').take(WITHIN_MS)
  const waiting = world.process('other').take(WITHIN_MS)
  await world.clock.advance(3_000)
  expect(world.holder()).toBe('one 1')
  await held.giveBack()
  await after(world, 1_000, waiting)
  expect(world.holder()).toBe('other 1')
})

test('a dead holder keeps others waiting for the life of its Lease, which they need not wait out in one call', async () => {
  const world = bed()
  await world.process('dead').take(WITHIN_MS)
  const other = world.process('other')
  await expect(after(world, WITHIN_MS, other.take(WITHIN_MS))).rejects.toMatchObject(locked('dead 1'))
  const taken = other.take(WITHIN_MS)
  await after(world, DEAD_AFTER_MS - WITHIN_MS, taken)
  expect(world.holder()).toBe('other 2')
})

test('what its own process has left is waited out from when it was taken', async () => {
  const world = bed()
  const one = world.process('one')
  const held = await one.take(WITHIN_MS)
  await world.clock.advance(8_000)
  held.leave()
  const taken = one.take(WITHIN_MS)
  await world.clock.advance(DEAD_AFTER_MS - 8_000 - 1_000)
  expect(world.holder()).toBe('one 1')
  await after(world, 2_000, taken)
  expect(world.holder()).toBe('one 2')
})

test.each([
  ['deleted', undefined],
  ['cleared', { holderIdentity: '', leaseDurationSeconds: 15 }],
])('a Lease that somebody has %s counts as held for its life', async (_, spec) => {
  const world = bed()
  await world.process('holder').take(WITHIN_MS)
  const other = world.process('other')
  await expect(after(world, 1_000, other.take(500))).rejects.toMatchObject(locked('holder 1'))
  world.server.write(spec)
  await expect(after(world, WITHIN_MS, other.take(WITHIN_MS))).rejects.toMatchObject(locked(''))
  await after(world, DEAD_AFTER_MS - WITHIN_MS, other.take(WITHIN_MS))
  expect(world.holder()).toMatch(/^other/)
})

test('a process with call upon call lets others have a turn', async () => {
  const world = bed()
  const one = world.process('busy')
  const turns: string[] = []
  async function takeAll(process: ReturnType<typeof world.process>, name: string, count: number): Promise<void> {
    for (let call = 0; call < count; call += 1) {
      const held = await process.take(WITHIN_MS)
      turns.push(name)
      await new Promise<void>((go) => world.clock.setTimeout(go, 150))
      await held.giveBack()
    }
  }
  const busy = takeAll(one, 'busy', 40)
  await world.clock.advance(500)
  const all = Promise.all([busy, takeAll(world.process('other'), 'other', 1)])
  await after(world, 30_000, all)
  expect(turns.slice(0, 30)).toContain('other')
})

test.each(['unanswered', 'lost', 'unsent'] as const)('a write that is %s is looked into', async (fault) => {
  const world = bed()
  world.server.fault = ({ method, index }) => (method !== 'GET' && index <= 1 ? fault : undefined)
  await after(world, WITHIN_MS, world.process('one').take(WITHIN_MS))
  expect(world.server.lease()!.spec).toMatchObject({ holderIdentity: named('one 1'), leaseTransitions: 1 })
})

test('an API server that does not answer: retryable, with the reason', async () => {
  const world = bed()
  world.server.fault = () => 'lost'
  await expect(after(world, WITHIN_MS, world.process('one').take(WITHIN_MS))).rejects.toMatchObject({
    kind: 'retryable',
    reason: { code: 'document-not-locked', because: { code: expect.any(String) as string } },
  })
})

test('what leaves must leave soon: a call may live for 10 s, and the Lease is not renewed', async () => {
  const world = bed()
  const held = await world.process('one').take(WITHIN_MS)
  await world.clock.advance(5_000)
  held.assertFresh()
  await world.clock.advance(1)
  expect(() => held.assertFresh()).toThrow(
    expect.objectContaining({ reason: expect.objectContaining({ code: 'document-lock-old' }) as object }),
  )
})

test('two processes of one name exclude each other: a container is called alike in every cluster', async () => {
  const server = createLeaseServer()
  const clock = createVirtualClock()
  const lock = { client: server.client, namespace: 'shop', document: 'http://edge:8080' }
  const { signal } = new AbortController()
  const takes = [1, 2].map((seed) =>
    createDocumentTurns(lock, { clock, random: createRandom(seed), identity: 'runner-0_1' }).take({
      until: clock.now() + WITHIN_MS,
      assertLive() {},
      signal,
    }),
  )
  const settled = Promise.allSettled(takes)
  await clock.advance(WITHIN_MS)
  expect((await settled).map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
})

test('a Lease that was written for a call that has ended meanwhile is its own process’s to take', async () => {
  const world = bed()
  const one = world.process('one')
  let isAway = false
  world.server.fault = ({ method }) => {
    if (method === 'POST') isAway = true
    return isAway ? (method === 'POST' ? 'unanswered' : 'lost') : undefined
  }
  await expect(after(world, 3_000, one.take(2_000))).rejects.toMatchObject({ reason: { code: 'document-not-locked' } })
  expect(world.holder()).toBe('one 1')
  world.server.fault = () => undefined
  await after(world, 2_000, one.take(1_000))
  expect(world.holder()).toBe('one 2')
})

test('a call that is not to be made any more takes no Lease', async () => {
  const { server, process } = bed()
  const lost = new Error('the Lease of the run is lost')
  const assertLive = (): never => {
    throw lost
  }
  await expect(process('one').take(WITHIN_MS, { assertLive })).rejects.toBe(lost)
  expect(server.lease()).toBe(undefined)
})

test('no look outlives the time that a call may wait', async () => {
  const world = bed()
  const deadlines: number[] = []
  const get = world.server.client.get
  world.server.client.get = (path, options) => {
    deadlines.push(options!.deadlineMs!)
    return get(path, options)
  }
  await world.process('holder').take(WITHIN_MS)
  await expect(after(world, WITHIN_MS, world.process('other').take(WITHIN_MS))).rejects.toMatchObject(locked('holder 1'))
  expect(Math.max(...deadlines)).toBe(4_000)
  expect(deadlines.at(-1)).toBeLessThan(1_000)
})
