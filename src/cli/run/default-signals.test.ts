import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { withDefaultSignals } from './default-signals.ts'

test('a signal ends the process by its own code, but while a command listens to it', () => {
  const process = new EventEmitter()
  const exits: number[] = []
  const events = withDefaultSignals(process, (code) => exits.push(code))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.emit(signal)
  expect(exits).toEqual([130, 143, 143])
  let heard = 0
  const listener = (): number => (heard += 1)
  events.on('SIGHUP', listener)
  process.emit('SIGHUP')
  expect([heard, exits.length]).toEqual([1, 3])
  process.emit('SIGTERM')
  events.off('SIGHUP', listener)
  process.emit('SIGHUP')
  expect([heard, exits.slice(3)]).toEqual([1, [143, 143]])
})

test('whatever is no signal goes to the process itself', () => {
  const process = new EventEmitter()
  const events = withDefaultSignals(process, () => expect.unreachable())
  const listener = (): void => {}
  events.on('uncaughtException', listener)
  expect(process.listenerCount('uncaughtException')).toBe(1)
  events.off('uncaughtException', listener)
  expect(process.listenerCount('uncaughtException')).toBe(0)
})
