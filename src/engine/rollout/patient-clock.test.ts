import { expect, test } from 'vitest'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { Clock } from '../../ports/clock.ts'
import { patientClocks } from './patient-clock.ts'

/** A process that is stopped and goes on. Timers that are due meanwhile fire then. */
function bed() {
  const virtual = createVirtualClock()
  let due: (() => void)[] = []
  let isStopped = false
  const clock: Clock = {
    ...virtual,
    setTimeout: (callback, ms) => virtual.setTimeout(() => (isStopped ? void due.push(callback) : callback()), ms),
  }
  const asked: (() => void)[] = []
  let isBlind = false
  const looked: (() => void)[] = []
  const patientClock = patientClocks(clock, {
    isCurrent: () => !isBlind,
    catchUp: () => new Promise<void>((resolve) => asked.push(resolve)),
  })
  let isDeadline = false
  function make() {
    const look = (): Promise<void> => new Promise((resolve) => looked.push(resolve))
    const made = patientClock({ isBegun: () => isDeadline, look })
    /** A `setTimeout` that makes a deadline. */
    function setDeadline(callback: () => void, delayMs: number): unknown {
      isDeadline = true
      const timer = made.setTimeout(callback, delayMs)
      isDeadline = false
      return timer
    }
    return { ...made, setDeadline }
  }
  return {
    patient: make(),
    another: make(),
    asked,
    looked,
    advance: virtual.advance,
    /** From now on nothing can be observed. */
    goBlind: () => (isBlind = true),
    async stopFor(ms: number) {
      isStopped = true
      await virtual.advance(ms)
      isStopped = false
      for (const callback of due.splice(0)) callback()
      await virtual.advance(0)
    },
  }
}

test('a timer in time is as any other, and asks for nothing', async () => {
  const { patient, asked, advance } = bed()
  const fired: string[] = []
  patient.setTimeout(() => fired.push('kept'), 5_000)
  patient.clearTimeout(patient.setTimeout(() => fired.push('cleared'), 5_000))
  patient.clearTimeout(undefined)
  await advance(4_999)
  expect(fired).toEqual([])
  await advance(1)
  expect([fired, asked.length]).toEqual([['kept'], 0])
})

test('those that are late wait until what happened meanwhile is known, each for what comes after it', async () => {
  const { patient, asked, advance, stopFor } = bed()
  const fired: string[] = []
  patient.setTimeout(() => fired.push('first'), 5_000)
  patient.setTimeout(() => fired.push('second'), 6_000)
  await stopFor(20_000)
  await advance(1_000)
  expect([fired, asked.length]).toEqual([[], 2])
  asked[1]!()
  await advance(0)
  expect(fired).toEqual(['second'])
  asked[0]!()
  await advance(0)
  expect(fired).toEqual(['second', 'first'])
})

test('one that what is known now has made needless is cleared as before', async () => {
  const { patient, asked, advance, stopFor } = bed()
  const fired: string[] = []
  const timer = patient.setTimeout(() => fired.push('failed'), 5_000)
  await stopFor(20_000)
  patient.clearTimeout(timer)
  asked[0]!()
  await advance(10_000)
  expect(fired).toEqual([])
})

test('nothing is waited for without end', async () => {
  const { patient, advance, stopFor } = bed()
  const fired: string[] = []
  patient.setTimeout(() => fired.push('failed'), 5_000)
  await stopFor(20_000)
  await advance(4_999)
  expect(fired).toEqual([])
  await advance(1)
  expect(fired).toEqual(['failed'])
})

test.each([0, 10_000])('what that begins comes first, and may clear it (%d ms)', async (forMs) => {
  const { patient, asked, advance, stopFor } = bed()
  const fired: string[] = []
  const deadline = patient.setTimeout(() => fired.push('failed'), 5_000)
  await stopFor(20_000)
  patient.setTimeout(() => {
    fired.push('ready')
    patient.clearTimeout(deadline)
  }, forMs)
  asked[0]!()
  await advance(30_000)
  expect(fired).toEqual(['ready'])
})

test('it does not come to that after all, or that is late as well: then it comes first, too', async () => {
  const { patient, asked, advance, stopFor } = bed()
  const fired: string[] = []
  patient.setTimeout(() => fired.push('failed'), 5_000)
  await stopFor(20_000)
  const cleared = patient.setTimeout(() => fired.push('cleared'), 10_000)
  patient.setTimeout(() => fired.push('ready'), 5_000)
  asked[0]!()
  await advance(4_000)
  patient.clearTimeout(cleared)
  expect(fired).toEqual([])
  await stopFor(20_000)
  expect(fired).toEqual([])
  asked[1]!()
  await advance(0)
  expect(fired).toEqual(['ready', 'failed'])
})

test('no pod waits for what another begins', async () => {
  const { patient, another, asked, advance, stopFor } = bed()
  const fired: string[] = []
  patient.setTimeout(() => fired.push('failed'), 5_000)
  await stopFor(20_000)
  another.setTimeout(() => fired.push('another'), 10_000)
  asked[0]!()
  await advance(0)
  expect(fired).toEqual(['failed'])
})

test.each([2_000, 20_000])('a deadline looks first, at what it judges by (%d ms)', async (deadlineMs) => {
  const { patient, another, asked, looked, advance } = bed()
  const fired: string[] = []
  const cleared = patient.setDeadline(() => fired.push('cleared'), deadlineMs)
  another.setDeadline(() => fired.push('failed'), deadlineMs)
  await advance(50_000)
  expect([fired, looked.length, asked.length]).toEqual([[], 2, 0])
  patient.clearTimeout(cleared)
  for (const resolve of looked) resolve()
  await advance(0)
  expect(fired).toEqual(['failed'])
})

test('what that look begins comes first; another deadline does not, nor what was begun before or after it', async () => {
  const { patient, looked, advance } = bed()
  const fired: string[] = []
  patient.setTimeout(() => fired.push('before'), 30_000)
  patient.setDeadline(() => fired.push('failed'), 20_000)
  await advance(20_000)
  patient.setTimeout(() => fired.push('readyFor'), 6_000)
  patient.setDeadline(() => fired.push('begun'), 30_000)
  looked[0]!()
  await advance(0)
  patient.setTimeout(() => fired.push('after'), 30_000)
  await advance(5_999)
  expect(fired).toEqual([])
  await advance(1)
  expect(fired).toEqual(['readyFor', 'failed'])
})

test('a deadline that was begun while another looked has what it begins itself come first', async () => {
  const { patient, another, looked, asked, advance, stopFor } = bed()
  const fired: string[] = []
  another.setDeadline(() => fired.push('another'), 2_000)
  await advance(2_000)
  patient.setDeadline(() => fired.push('failed'), 20_000)
  looked[0]!()
  await advance(20_000)
  patient.setTimeout(() => fired.push('readyFor'), 6_000)
  looked[1]!()
  await advance(5_000)
  await stopFor(10_000)
  expect([fired, asked.length]).toEqual([['another'], 1])
  asked[0]!()
  await advance(0)
  expect(fired).toEqual(['another', 'readyFor', 'failed'])
})

test('one that is over while nothing can be observed waits until what happened meanwhile is known', async () => {
  const { patient, asked, looked, advance, goBlind } = bed()
  const fired: string[] = []
  const deadline = patient.setDeadline(() => fired.push('failed'), 20_000)
  patient.setDeadline(() => fired.push('another'), 20_000)
  goBlind()
  await advance(50_000)
  expect([fired, asked.length, looked.length]).toEqual([[], 2, 0])
  patient.clearTimeout(deadline)
  for (const resolve of asked) resolve()
  await advance(0)
  expect(fired).toEqual(['another'])
})

test('so it does where this process has stood still', async () => {
  const { patient, asked, looked, advance, stopFor } = bed()
  const fired: string[] = []
  patient.setDeadline(() => fired.push('failed'), 20_000)
  await stopFor(30_000)
  await advance(50_000)
  expect([fired, asked.length, looked.length]).toEqual([[], 1, 0])
  asked[0]!()
  await advance(0)
  expect(fired).toEqual(['failed'])
})

test('what that begins may come to its end unseen once more: that is caught up with, too', async () => {
  const { patient, asked, advance, goBlind } = bed()
  const fired: string[] = []
  const deadline = patient.setDeadline(() => fired.push('failed'), 20_000)
  goBlind()
  await advance(20_000)
  patient.setTimeout(() => fired.push('readyFor'), 6_000)
  asked[0]!()
  await advance(6_000)
  expect([fired, asked.length]).toEqual([[], 2])
  patient.clearTimeout(deadline)
  asked[1]!()
  await advance(0)
  expect(fired).toEqual(['readyFor'])
})

test.each([
  { deadlineMs: 2_000, patienceMs: 60_000 },
  { deadlineMs: 20_000, patienceMs: 60_000 },
  { deadlineMs: 300_000, patienceMs: 300_000 },
])('no longer than it was, and a minute: $deadlineMs ms', async ({ deadlineMs, patienceMs }) => {
  for (const isBlind of [true, false]) {
    const { patient, advance, goBlind } = bed()
    const fired: string[] = []
    if (isBlind) goBlind()
    patient.setDeadline(() => fired.push('failed'), deadlineMs)
    await advance(deadlineMs + patienceMs - 1)
    expect(fired).toEqual([])
    // A timer that began meanwhile can tell nothing either.
    patient.setTimeout(() => fired.push('ready'), 30_000)
    await advance(1)
    expect(fired).toEqual(['failed'])
  }
})

test('a pause between two looks is none the longer for it', async () => {
  const { patient, asked, looked, advance, goBlind } = bed()
  const fired: string[] = []
  goBlind()
  patient.setTimeout(() => fired.push('look'), 5_000)
  await advance(5_000)
  expect([fired, asked.length, looked.length]).toEqual([['look'], 0, 0])
})

test('any other timer that is over while nothing can be observed waits for that, and looks at no other time', async () => {
  const { patient, asked, looked, advance, goBlind } = bed()
  const fired: string[] = []
  patient.setTimeout(() => fired.push('in sight'), 5_500)
  await advance(5_500)
  expect([fired, asked.length, looked.length]).toEqual([['in sight'], 0, 0])
  const readyFor = patient.setTimeout(() => fired.push('readyFor'), 6_000)
  goBlind()
  await advance(20_000)
  expect([fired, asked.length, looked.length]).toEqual([['in sight'], 1, 0])
  patient.clearTimeout(readyFor)
  asked[0]!()
  await advance(0)
  expect(fired).toEqual(['in sight'])
})
