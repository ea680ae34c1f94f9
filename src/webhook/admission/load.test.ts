import { expect, test } from 'vitest'
import { watchLoad } from './load.ts'

test('a server is overloaded while its event loop has had no idle time for too long', () => {
  let [nowMs, idleMs] = [0, 0]
  const isOverloaded = watchLoad({ clock: { now: () => nowMs }, busyMs: 100, idleMs: () => idleMs })
  expect(isOverloaded()).toBe(false)
  nowMs = 100
  expect(isOverloaded()).toBe(false)
  nowMs = 101
  expect(isOverloaded()).toBe(true)
  idleMs = 0.5
  expect(isOverloaded()).toBe(true)
  idleMs = 5
  expect(isOverloaded()).toBe(false)
})
