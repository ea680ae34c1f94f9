import { expect, test } from 'vitest'
import { watchLoad } from './load.ts'

test('requests are shed beyond their number, and while the event loop has had no idle time for too long', () => {
  let [nowMs, idleMs] = [0, 0]
  const load = watchLoad({ clock: { now: () => nowMs }, mostUnderWay: 2, busyMs: 100, idleMs: () => idleMs })
  const first = load.enter()
  expect([first, load.enter(), load.enter()]).toEqual([expect.any(Function), expect.any(Function), undefined])
  first!()
  expect(load.enter()).toBeDefined()
  first!()
  nowMs = 100
  expect(load.enter()).toBeDefined()
  first!()
  nowMs = 101
  expect(load.enter()).toBeUndefined()
  idleMs = 0.5
  expect(load.enter()).toBeUndefined()
  idleMs = 5
  expect(load.enter()).toBeDefined()
})
