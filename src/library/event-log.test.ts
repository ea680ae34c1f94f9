import { expect, test } from 'vitest'
import { said } from '../cli/testing/samples.ts'
import type { RunEvent } from '../engine/events.ts'
import { createEventLog, EventsLostError } from './event-log.ts'

const event = (atMs: number): RunEvent => ({ type: 'warning', reason: said('x'), atMs, wallAt: '' })

async function take(events: AsyncIterable<RunEvent>, most = Infinity): Promise<number[]> {
  const taken: number[] = []
  for await (const { atMs } of events) {
    taken.push(atMs)
    if (taken.length >= most) break
  }
  return taken
}

test('each consumer gets all events from the beginning, whenever it begins, and ends with the log', async () => {
  const log = createEventLog()
  log.add(event(1))
  const first = take(log.events)
  log.add(event(2))
  await Promise.resolve()
  const second = take(log.events)
  log.add(event(3))
  log.end()
  expect(await Promise.all([first, second, take(log.events)])).toEqual([
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
  ])
})

test('a consumer that waits gets an event when it comes', async () => {
  const log = createEventLog()
  const taken = take(log.events, 1)
  expect(log.waiting).toBe(1)
  log.add(event(7))
  expect(await taken).toEqual([7])
})

test('a consumer that leaves early waits for nothing, and the others go on', async () => {
  const log = createEventLog()
  log.add(event(1))
  expect(await take(log.events, 1)).toEqual([1])
  const other = take(log.events)
  const left = log.events[Symbol.asyncIterator]()
  await left.next()
  const pending = left.next()
  expect(log.waiting).toBe(2)
  await left.return!()
  expect(await pending).toEqual({ done: true, value: undefined })
  expect(log.waiting).toBe(1)
  expect(await left.next()).toEqual({ done: true, value: undefined })
  log.add(event(2))
  log.end()
  expect(await other).toEqual([1, 2])
})

test('events that are asked for together come in their order', async () => {
  const log = createEventLog()
  const one = log.events[Symbol.asyncIterator]()
  const asked = [one.next(), one.next(), one.next()]
  log.add(event(1))
  log.add(event(2))
  log.end()
  expect((await Promise.all(asked)).map(({ value }) => value?.atMs)).toEqual([1, 2, undefined])
})

test('a consumer that is too slow hears how many events it has lost; one that begins then has the newest', async () => {
  const log = createEventLog(3)
  const slow = log.events[Symbol.asyncIterator]()
  for (let atMs = 1; atMs <= 5; atMs += 1) log.add(event(atMs))
  log.end()
  await expect(slow.next()).rejects.toEqual(expect.objectContaining({ name: 'EventsLostError', lost: 2 }))
  await expect(slow.next()).resolves.toEqual({ done: true, value: undefined })
  expect(new EventsLostError(2)).toBeInstanceOf(Error)
  expect(await take(log.events)).toEqual([3, 4, 5])
})
