import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { watchInterrupts, type InterruptCause } from './interrupts.ts'

function setup() {
  const events = new EventEmitter()
  const exits: { code: number; again: boolean }[] = []
  const stops: InterruptCause[] = []
  const time = { nowMs: 0 }
  const interrupts = watchInterrupts({
    events,
    now: () => time.nowMs,
    exit: (code, _cause, again) => exits.push({ code, again }),
  })
  return { events, exits, stops, time, interrupts }
}

test('a Ctrl-C that arrives twice in one moment, as under npm, is one', () => {
  const { events, exits, stops, time, interrupts } = setup()
  interrupts.stopInOrder((cause) => stops.push(cause))
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
  const { events, exits, interrupts } = setup()
  interrupts.stopInOrder(() => {})
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
  const { events, exits, stops, interrupts } = setup()
  interrupts.stopInOrder((cause) => stops.push(cause))
  const error = new Error('x')
  events.emit('unhandledRejection', error)
  expect(stops).toEqual([{ bug: error }])
  events.emit('uncaughtException', error)
  expect(exits).toEqual([{ code: 1, again: true }])
})

test('nothing is left behind', () => {
  const { events, interrupts } = setup()
  interrupts.dispose()
  expect(events.eventNames()).toEqual([])
})
