import { expect, test } from 'vitest'
import { field } from './json.ts'
import { createKubeClient } from './kube-client.ts'
import { createReflector, type ObjectRecord, ReflectorError } from './reflector.ts'
import { createScriptedTransport, type Incoming } from './testing/scripted-transport.ts'
import { createVirtualClock } from './testing/virtual-clock.ts'

/* Lists beside a silent watch, and in its place. */

function pod(version: number, uid = 'a') {
  return { metadata: { uid, name: uid, namespace: 'default', resourceVersion: String(version) } }
}

function listOf(version: number, items: unknown[]) {
  return { kind: 'PodList', metadata: { resourceVersion: String(version) }, items }
}

const modified = (version: number) => ({ type: 'MODIFIED', object: pod(version) })

async function setUp({ awaited = false } = {}) {
  const clock = createVirtualClock()
  const transport = createScriptedTransport(clock)
  const random = { next: () => 0.5 }
  const events: string[] = []
  const problems: string[] = []
  const waits = { awaited }
  const reflector = createReflector<ObjectRecord>({
    client: createKubeClient({ transport, clock, random }),
    clock,
    random,
    path: '/pods',
    decode: (raw) => field(raw, 'metadata') as ObjectRecord,
    onEvent: ({ type, record }) => events.push(`${type} ${record.uid}@${record.resourceVersion}`),
    onError: (error) => problems.push(error instanceof ReflectorError ? error.problem : error.message),
    isAwaited: () => waits.awaited,
  })

  /** The next request, with the time without a request before it. */
  async function next(kind: 'list' | 'watch'): Promise<Incoming & { afterMs: number }> {
    const before = clock.now()
    const incoming = await transport.next()
    expect(incoming.stream).toBe(kind === 'watch')
    return { ...incoming, afterMs: clock.now() - before }
  }

  const started = reflector.start()
  ;(await next('list')).answer(200, listOf(9, [pod(1)]))
  await started
  const watch = await next('watch')
  watch.open()
  events.length = 0
  return { clock, transport, reflector, waits, problems, next, watch, taken: () => events.splice(0) }
}

/** An answer has told of a write that the watch does not deliver, and lists find twice that the watch lacks news. */
async function setUpHeld() {
  const bed = await setUp({ awaited: true })
  const { reflector, next, taken } = bed
  reflector.observe(pod(10))
  ;(await next('list')).answer(200, listOf(11, [pod(10)]))
  const second = await next('watch')
  second.open()
  ;(await next('list')).answer(200, listOf(12, [pod(12)]))
  await bed.clock.advance(0)
  expect(taken()).toEqual(['modified a@10', 'modified a@12'])
  return { ...bed, watch: second }
}

test('of a silent watch nothing is asked where nobody waits', async () => {
  const { clock, transport, reflector } = await setUp()
  await clock.advance(85_000)
  expect(transport.waiting()).toBe(0)
  await reflector.stop()
  expect(clock.pending()).toBe(0)
})

test('while somebody waits a silent watch is compared with a list, less and less often, and stays where there is nothing new', async () => {
  const { next, taken, problems, watch, reflector } = await setUp({ awaited: true })
  const after: number[] = []
  for (let look = 0; look < 3; look += 1) {
    const list = await next('list')
    after.push(list.afterMs)
    list.answer(200, listOf(20 + look, [pod(1)]))
  }
  expect(after).toEqual([5_000, 10_000, 20_000])
  expect([taken(), problems, watch.request.signal?.aborted]).toEqual([[], [], false])
  await reflector.stop()
})

test('a watch that brings lines is not asked after, whoever waits', async () => {
  const { clock, transport, watch, reflector } = await setUp({ awaited: true })
  for (let version = 10; version < 20; version += 1) {
    await clock.advance(4_000)
    watch.line(modified(version))
  }
  expect(transport.waiting()).toBe(0)
  await reflector.stop()
})

test('an answered write whose event does not come is looked for after 3 s, whoever waits', async () => {
  const { next, taken, reflector, clock } = await setUp()
  await clock.advance(60_000)
  reflector.observe(pod(10))
  const list = await next('list')
  expect(list.afterMs).toBe(3_000)
  list.answer(200, listOf(11, [pod(10)]))
  await clock.advance(0)
  expect(taken()).toEqual(['modified a@10'])
  await reflector.stop()
})

test('control: one whose event comes is not', async () => {
  const { clock, transport, watch, reflector } = await setUp()
  reflector.observe(pod(10))
  await clock.advance(1_000)
  watch.line(modified(10))
  await clock.advance(80_000)
  expect(transport.waiting()).toBe(0)
  await reflector.stop()
})

test('the first watch that leaves out what a list tells is made anew, without a word', async () => {
  const { next, reflector, problems, watch } = await setUp({ awaited: true })
  ;(await next('list')).answer(200, listOf(11, [pod(10)]))
  const second = await next('watch')
  expect([second.afterMs, second.query.get('resourceVersion')]).toEqual([2_000, '11'])
  expect([watch.request.signal?.aborted, problems, reflector.isCurrent()]).toEqual([true, [], true])
  await reflector.stop()
})

test('a watch that brings soon what a list has told is sound', async () => {
  const { clock, next, taken, watch, reflector, problems } = await setUp({ awaited: true })
  ;(await next('list')).answer(200, listOf(11, [pod(10)]))
  await clock.advance(1_000)
  watch.line(modified(10))
  await clock.advance(3_900)
  expect([taken(), problems, watch.request.signal?.aborted]).toEqual([['modified a@10'], [], false])
  await reflector.stop()
})

test('a line that comes while the list is under way is the better answer', async () => {
  const { clock, next, taken, watch, reflector } = await setUp({ awaited: true })
  const list = await next('list')
  watch.line(modified(12))
  // An older list, which lacks the news that the watch has delivered.
  list.answer(200, listOf(11, []))
  await clock.advance(0)
  expect(taken()).toEqual(['modified a@12'])
  await reflector.stop()
})

test('after the second, of another connection, lists stand in for the watch, which is said once', async () => {
  const { clock, next, taken, problems, reflector } = await setUpHeld()
  for (const version of [13, 14, 15]) {
    const list = await next('list')
    expect(list.afterMs).toBeLessThanOrEqual(1_000)
    list.answer(200, listOf(version, [pod(version)]))
    await clock.advance(0)
  }
  expect([taken(), problems, reflector.isCurrent()]).toEqual([
    ['modified a@13', 'modified a@14', 'modified a@15'],
    ['held'],
    true,
  ])
  await reflector.stop()
  expect(clock.pending()).toBe(0)
})

test('lists stand in for it more seldom while nobody waits', async () => {
  const { clock, next, waits, reflector } = await setUpHeld()
  waits.awaited = false
  await clock.advance(0)
  const list = await next('list')
  expect(list.afterMs).toBeGreaterThan(5_000)
  await reflector.stop()
})

test('a list that takes long is asked for less often', async () => {
  const { clock, next, reflector } = await setUpHeld()
  const slow = await next('list')
  await clock.advance(2_000)
  slow.answer(200, listOf(13, [pod(12)]))
  await clock.advance(0)
  expect((await next('list')).afterMs).toBeGreaterThanOrEqual(19_000)
  await reflector.stop()
})

test('a watch that brings news first takes its place again', async () => {
  const { clock, transport, next, taken, waits, watch, reflector } = await setUpHeld()
  ;(await next('list')).answer(200, listOf(13, [pod(13)]))
  await clock.advance(0)
  // News that a list has told before prove nothing, because an intermediary may have held back the watch until now.
  watch.line(modified(13))
  ;(await next('list')).answer(200, listOf(13, [pod(13)]))
  await clock.advance(0)
  taken()
  for (let version = 14; version < 18; version += 1) watch.line(modified(version))
  // A proxy with a full buffer also delivers some news in time.
  ;(await next('list')).answer(200, listOf(18, [pod(18)]))
  await clock.advance(0)
  for (let version = 19; version < 24; version += 1) watch.line(modified(version))
  waits.awaited = false
  await clock.advance(60_000)
  expect([taken().length, transport.waiting()]).toEqual([10, 0])
  await reflector.stop()
})

test('where the list fails that stands in for it, nothing is current until the next one', async () => {
  const { next, reflector, problems } = await setUpHeld()
  const again = await next('list')
  again.fail(true)
  const list = await next('list')
  expect([reflector.isCurrent(), reflector.isBroken(), problems.filter((one) => one !== 'held').length]).toEqual([false, true, 1])
  list.answer(200, listOf(14, [pod(14)]))
  await next('watch')
  expect([reflector.isCurrent(), reflector.isBroken()]).toEqual([true, false])
  await reflector.stop()
})

test('one that is put off (429) is no break', async () => {
  const { next, reflector, clock, problems } = await setUpHeld()
  ;(await next('list')).answer(429, { kind: 'Status', reason: 'TooManyRequests' }, { 'retry-after': '1' })
  await clock.advance(0)
  expect([reflector.isCurrent(), problems.filter((one) => one !== 'held')]).toEqual([true, []])
  await reflector.stop()
})

test('a watch whose headers are held too is no break once lists stand in for it', async () => {
  const bed = await setUp({ awaited: true })
  const { next, clock, problems, reflector } = bed
  ;(await next('list')).answer(200, listOf(11, [pod(10)]))
  await next('watch')
  for (let version = 12; version < 40; version += 1) {
    ;(await next('list')).answer(200, listOf(version, [pod(version)]))
    await clock.advance(0)
  }
  expect([problems, reflector.isCurrent()]).toEqual([['held'], true])
  await reflector.stop()
})

test('asked anew it stays as it is until the list is in, or has failed', async () => {
  const { next, reflector } = await setUp()
  void reflector.refresh()
  expect([reflector.isCurrent(), reflector.isBroken()]).toEqual([true, false])
  ;(await next('list')).fail(true)
  await next('list')
  expect([reflector.isCurrent(), reflector.isBroken()]).toEqual([false, true])
  await reflector.stop()
})
