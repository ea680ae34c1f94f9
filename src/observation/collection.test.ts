import { expect, test } from 'vitest'
import { field } from '../kube/json.ts'
import { createKubeClient } from '../kube/kube-client.ts'
import type { ObjectRecord } from '../kube/reflector.ts'
import { createScriptedTransport, type Incoming } from '../kube/testing/scripted-transport.ts'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import { openCollection } from './collection.ts'

const PATH = '/api/v1/namespaces/shop/endpoints'
const FORBIDDEN = { kind: 'Status', code: 403, reason: 'Forbidden', message: 'endpoints is forbidden: cannot list resource it' }
const NO_KIND = { kind: 'Status', code: 404, reason: 'NotFound', message: 'the server could not find the requested resource' }

function decode(raw: unknown): ObjectRecord {
  const { uid, name, namespace, resourceVersion } = field(raw, 'metadata') as ObjectRecord
  if (uid === undefined) throw new Error('no uid')
  return { uid, name, namespace, resourceVersion }
}

function object(uid: string, version: number) {
  return { metadata: { uid, name: uid, namespace: 'shop', resourceVersion: String(version) } }
}

function listOf(version: number, ...items: unknown[]) {
  return { metadata: { resourceVersion: String(version) }, items }
}

function setUp(overrides: { onEvent?: () => void } = {}) {
  const clock = createVirtualClock()
  const transport = createScriptedTransport(clock)
  const random = { next: () => 0.5 }
  const stopping = new AbortController()
  const told: string[] = []
  const errors: Error[] = []
  const collection = openCollection({
    client: createKubeClient({ transport, clock, random }),
    clock,
    random,
    path: PATH,
    decode,
    onEvent({ type, record }) {
      told.push(`${type} ${record.uid}@${record.resourceVersion}`)
      overrides.onEvent?.()
    },
    onState: ({ is }) => told.push(is),
    onError: (error) => errors.push(error),
    signal: stopping.signal,
  })
  const sinceAt = clock.now()
  let isSettled = false
  collection.settled.then(() => (isSettled = true))

  async function next(kind: 'list' | 'watch'): Promise<Incoming> {
    const incoming = await transport.next()
    expect([incoming.path, incoming.stream]).toEqual([PATH, kind === 'watch'])
    return incoming
  }

  return {
    clock,
    transport,
    collection,
    errors,
    next,
    taken: () => told.splice(0),
    isSettled: () => isSettled,
    passedMs: () => clock.now() - sinceAt,
    known: () => [...collection.records().keys()],
    async stop() {
      stopping.abort()
      await clock.settle()
      await collection.ended
    },
  }
}

test('lists, watches, and ends with the signal', async () => {
  const { next, taken, isSettled, collection, known, stop, clock } = setUp()
  const list = await next('list')
  expect([collection.state().is, isSettled(), collection.isCurrent()]).toEqual(['listing', false, false])
  list.answer(200, listOf(9, object('a', 1)))
  const watch = await next('watch')
  await clock.settle()
  expect([taken(), isSettled(), collection.isCurrent()]).toEqual([['added a@1', 'current'], true, true])
  watch.line({ type: 'ADDED', object: object('b', 10) })
  watch.line({ type: 'DELETED', object: object('a', 11) })
  expect([taken(), known()]).toEqual([['added b@10', 'deleted a@11'], ['b']])
  await stop()
  expect(taken()).toEqual([])
})

test('ends during the first list', async () => {
  const { next, isSettled, stop } = setUp()
  await next('list')
  await stop()
  expect(isSettled()).toBe(true)
})

test('a refusal is tried again after 30 s, and a right that is given meanwhile counts', async () => {
  const { next, taken, isSettled, passedMs, collection, clock, stop } = setUp()
  ;(await next('list')).answer(403, FORBIDDEN)
  const second = await next('list')
  expect([passedMs(), taken(), isSettled(), collection.isBroken()]).toEqual([30_000, ['refused'], true, false])
  second.answer(403, FORBIDDEN)
  const third = await next('list')
  expect([passedMs(), taken()]).toEqual([60_000, []])
  third.answer(200, listOf(9, object('a', 1)))
  await next('watch')
  await clock.settle()
  expect(taken()).toEqual(['added a@1', 'current'])
  await stop()
})

test('a kind that is not there is looked for less and less often, until it is there', async () => {
  const { next, taken, isSettled, passedMs, collection, clock, stop } = setUp()
  const pauses: number[] = []
  for (let times = 0; times < 6; times += 1) {
    const beforeMs = passedMs()
    const list = await next('list')
    pauses.push(passedMs() - beforeMs)
    list.answer(404, NO_KIND)
  }
  expect(pauses).toEqual([0, 30_000, 60_000, 120_000, 240_000, 300_000])
  expect([taken(), isSettled(), collection.isBroken()]).toEqual([['absent'], true, false])
  ;(await next('list')).answer(200, listOf(9))
  await next('watch')
  await clock.settle()
  expect(taken()).toEqual(['current'])
  await stop()
})

test('an API server that does not answer at the start is broken at once, and is asked without end', async () => {
  const { next, taken, isSettled, passedMs, collection, clock, stop } = setUp()
  let list = await next('list')
  list.fail(false)
  await clock.settle()
  expect([taken(), isSettled(), collection.isBroken()]).toEqual([['broken'], false, true])
  while (passedMs() < 200_000) {
    list = await next('list')
    list.fail(false)
  }
  expect([taken(), isSettled()]).toEqual([[], false])
  ;(await next('list')).answer(200, listOf(9, object('a', 1)))
  await next('watch')
  await clock.settle()
  expect([taken(), isSettled(), collection.isBroken()]).toEqual([['added a@1', 'current'], true, false])
  await stop()
})

test('a short break of the watch is no state; a longer one is, and what was missed meanwhile is told', async () => {
  const { next, taken, collection, clock, known, transport, stop } = setUp()
  ;(await next('list')).answer(200, listOf(9, object('a', 1), object('b', 2)))
  ;(await next('watch')).fail(true)
  await clock.settle()
  expect([collection.isCurrent(), collection.isBroken(), collection.state().is]).toEqual([false, true, 'current'])
  const watch = await next('watch')
  watch.line({ type: 'ADDED', object: object('c', 10) })
  await clock.advance(6_000)
  expect([collection.isCurrent(), taken()]).toEqual([true, ['added a@1', 'added b@2', 'current', 'added c@10']])
  watch.fail(true)
  const brokenAt = clock.now()
  let request = await transport.next()
  while (clock.now() - brokenAt < 6_000) {
    request.fail(false)
    request = await transport.next()
  }
  expect([taken(), known(), request.stream]).toEqual([['broken'], ['a', 'b', 'c'], false])
  request.answer(200, listOf(20, object('a', 1), object('c', 15)))
  await next('watch')
  await clock.settle()
  expect([taken(), known()]).toEqual([
    ['deleted b@2', 'modified c@15', 'current'],
    ['a', 'c'],
  ])
  await stop()
})

test('a right that is taken away is a refusal once it lasts, with the records of before', async () => {
  const { next, taken, collection, clock, known, stop } = setUp()
  ;(await next('list')).answer(200, listOf(9, object('a', 1)))
  ;(await next('watch')).answer(403, FORBIDDEN)
  const refusedAt = clock.now()
  taken()
  let list = await next('list')
  while (clock.now() - refusedAt < 20_000) {
    list.answer(403, FORBIDDEN)
    list = await next('list')
  }
  expect([taken(), known(), collection.isCurrent()]).toEqual([['refused'], ['a'], false])
  list.answer(200, listOf(20))
  await next('watch')
  await clock.settle()
  expect(taken()).toEqual(['deleted a@1', 'current'])
  await stop()
})

test('an object that cannot be read, and a handler that fails, keep no other object back', async () => {
  let fails = true
  const { next, taken, errors, clock, stop } = setUp({
    onEvent() {
      if (fails) throw new Error('no')
    },
  })
  ;(await next('list')).answer(200, listOf(9, object('a', 1), { metadata: {} }, object('b', 2)))
  const watch = await next('watch')
  await clock.settle()
  fails = false
  watch.line({ type: 'ADDED', object: object('c', 10) })
  expect(taken()).toEqual(['added a@1', 'added b@2', 'current', 'added c@10'])
  expect(errors).toMatchObject([{ problem: 'malformed' }, { problem: 'handler' }, { problem: 'handler' }])
  await stop()
})

test('the answer to a write counts before the watch tells it', async () => {
  const { next, taken, collection, known, stop } = setUp()
  ;(await next('list')).answer(200, listOf(9))
  const watch = await next('watch')
  taken()
  expect(collection.observe(object('a', 10))).toMatchObject({ resourceVersion: '10' })
  expect([taken(), known()]).toEqual([[], ['a']])
  watch.line({ type: 'ADDED', object: object('a', 10) })
  expect(taken()).toEqual(['added a@10'])
  await stop()
})

test('a watch that ends by a mistake of its own is begun anew, and deletions meanwhile are told', async () => {
  let broken = false
  const clock = createVirtualClock()
  const transport = createScriptedTransport(clock)
  // The watch asks for a random number before it begins, and a port that throws there ends the reflector.
  const random = {
    next() {
      if (broken) throw new Error('no number')
      return 0.5
    },
  }
  const stopping = new AbortController()
  const told: string[] = []
  const collection = openCollection({
    client: createKubeClient({ transport, clock, random: { next: () => 0.5 } }),
    clock,
    random,
    path: PATH,
    decode,
    onEvent: ({ type, record }) => told.push(`${type} ${record.uid}`),
    signal: stopping.signal,
  })
  ;(await transport.next()).answer(200, listOf(9, object('a', 1), object('b', 2)))
  const watch = await transport.next()
  broken = true
  watch.fail(true)
  await clock.settle()
  expect([told.splice(0), [...collection.records().keys()]]).toEqual([
    ['added a', 'added b'],
    ['a', 'b'],
  ])
  broken = false
  const list = await transport.next()
  expect(list.stream).toBe(false)
  list.answer(200, listOf(20, object('b', 2)))
  await transport.next()
  expect([told, [...collection.records().keys()]]).toEqual([['deleted a', 'added b'], ['b']])
  stopping.abort()
  await collection.ended
})
