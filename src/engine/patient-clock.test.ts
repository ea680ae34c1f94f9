import { expect, test } from 'vitest'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import type { Clock } from '../ports/clock.ts'
import { patientClock } from './patient-clock.ts'

/** A clock whose timers fire only when they are let. */
function stoppable() {
  const inner = createVirtualClock()
  let due: (() => void)[] = []
  let isStopped = false
  const clock: Clock = {
    ...inner,
    setTimeout: (callback, ms) => inner.setTimeout(() => (isStopped ? void due.push(callback) : callback()), ms),
  }
  return {
    inner,
    clock: patientClock(clock),
    stop: () => (isStopped = true),
    goOn() {
      isStopped = false
      const late = due
      due = []
      for (const callback of late) callback()
    },
  }
}

test('a timer in time is as any other', async () => {
  const { inner, clock } = stoppable()
  let fired = 0
  clock.setTimeout(() => fired++, 5_000)
  const cleared = clock.setTimeout(() => fired++, 5_000)
  clock.clearTimeout(cleared)
  await inner.advance(4_999)
  expect(fired).toBe(0)
  await inner.advance(1)
  expect(fired).toBe(1)
})

test('one that is late waits until what happened meanwhile has come in', async () => {
  const { inner, clock, stop, goOn } = stoppable()
  let fired = 0
  clock.setTimeout(() => fired++, 5_000)
  stop()
  await inner.advance(20_000)
  goOn()
  expect(fired).toBe(0)
  await inner.advance(2_000)
  expect(fired).toBe(1)
})

test('and is cleared in that time as before', async () => {
  const { inner, clock, stop, goOn } = stoppable()
  let fired = 0
  const timer = clock.setTimeout(() => fired++, 5_000)
  stop()
  await inner.advance(20_000)
  goOn()
  clock.clearTimeout(timer)
  await inner.advance(10_000)
  expect(fired).toBe(0)
  clock.clearTimeout(undefined)
})
