import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { watchInterrupts, type InterruptCause } from './interrupts.ts'

function setup() {
  const events = new EventEmitter()
  const exits: { code: number; again: boolean }[] = []
  const exit = (again: boolean) => (code: number) => void exits.push({ code, again })
  const stops: InterruptCause[] = []
  const time = { nowMs: 0 }
  const interrupts = watchInterrupts({
    events,
    now: () => time.nowMs,
    exit: exit(false),
  })
  const stopInOrder = () => interrupts.stopInOrder((cause) => stops.push(cause), exit(true))
  return { events, exits, stops, stopInOrder, time, interrupts }
}

test('a Ctrl-C that arrives twice in one moment, as under npm, is one', () => {
  const { events, exits, stops, stopInOrder, time } = setup()
  stopInOrder()
  events.emit('SIGINT')
  time.nowMs = 99
  events.emit('SIGINT')
  expect(exits).toEqual([])
  time.nowMs = 100
  events.emit('SIGINT')
  expect(stops).toEqual([{ signal: 'SIGINT' }])
  expect(exits).toEqual([{ code: 130, again: true }])
})

test('another signal in the same moment is a second one', () => {
  const { events, exits, stopInOrder } = setup()
  stopInOrder()
  events.emit('SIGINT')
  events.emit('SIGTERM')
  expect(exits).toEqual([{ code: 130, again: true }])
})

test('before there is something to stop, the first one ends the process', () => {
  const { events, exits, interrupts } = setup()
  events.emit('SIGHUP')
  expect(exits).toEqual([{ code: 143, again: false }])
  expect(interrupts.cause).toEqual({ signal: 'SIGHUP' })
})

test('a mistake of sluice stops in order, a second one ends the process', () => {
  const { events, exits, stops, stopInOrder } = setup()
  stopInOrder()
  const error = new Error('x')
  events.emit('unhandledRejection', error)
  expect(stops).toEqual([{ bug: error }])
  events.emit('uncaughtException', error)
  expect(exits).toEqual([{ code: 1, again: true }])
})

test('once the run is over every cause means what is left, but for the rest of a press', () => {
  const { events, exits, stops, stopInOrder, time, interrupts } = setup()
  stopInOrder()
  events.emit('SIGINT')
  const ends: InterruptCause[] = []
  interrupts.over((cause) => ends.push(cause))
  time.nowMs = 50
  events.emit('SIGINT')
  expect(ends).toEqual([])
  events.emit('SIGTERM')
  time.nowMs = 200
  events.emit('SIGTERM')
  expect(ends).toEqual([{ signal: 'SIGTERM' }, { signal: 'SIGTERM' }])
  expect(stops).toEqual([{ signal: 'SIGINT' }])
  expect(interrupts.cause).toEqual({ signal: 'SIGINT' })
  expect(exits).toEqual([])
})

test('nothing is left behind', () => {
  const { events, interrupts } = setup()
  interrupts.dispose()
  expect(events.eventNames()).toEqual([])
})
