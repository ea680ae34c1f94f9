import { expect, test } from 'vitest'
import { watchLoad } from './load.ts'

test('a server is overloaded while its event loop has had no idle time for too long', () => {
  let [nowMs, idleMs] = [0, 0]
  const isOverloaded = watchLoad({ clock: { now: () => nowMs }, busyMs: 100, idleMs: () => idleMs })
  const ask = (times: number): boolean[] => Array.from({ length: times }, () => isOverloaded())
  expect(ask(4)).toEqual([false, false, false, false])
  nowMs = 100
  expect(ask(1)).toEqual([false])
  nowMs = 101
  expect(ask(1)).toEqual([true])
  idleMs = 0.5
  expect(ask(1)).toEqual([true])
  idleMs = 5
  expect(ask(4)).toEqual([false, false, false, false])
})

test('a process that only gets little time answers the few requests that it has, for some time', () => {
  let nowMs = 0
  const isOverloaded = watchLoad({ clock: { now: () => nowMs }, busyMs: 100, idleMs: () => 0 })
  for (nowMs of [101, 150, 190, 200]) expect(isOverloaded()).toBe(false)
  nowMs = 201
  expect(isOverloaded()).toBe(true)
})
