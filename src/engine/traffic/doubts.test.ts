import { expect, test } from 'vitest'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createDoubts } from './doubts.ts'

const TARGET = { loadBalancer: 'edge', target: 'web-0', scope: 'pool' }
const EVENT = {
  type: 'effect',
  uid: 'uid-0',
  pod: 'web-0',
  loadBalancer: 'edge',
  target: 'web-0',
  effect: 'drain',
  operation: 'op-1',
  outcome: 'ambiguous',
  batch: 1,
  durationMs: 5,
} as const

function bed() {
  const clock = createVirtualClock()
  return { clock, doubts: createDoubts(clock) }
}

test('a call in doubt may arrive until its time is over', async () => {
  const { clock, doubts } = bed()
  expect(doubts.areOver()).toBe(true)
  doubts.raise('uid-0', TARGET, EVENT, { askedAt: clock.now() - 5, lateForMs: 10_000 })
  expect(doubts.of('uid-0', TARGET)).toEqual(EVENT)
  expect(doubts.of('uid-1', TARGET)).toBeUndefined()
  expect(doubts.areOver()).toBe(false)
  await clock.advance(9_999)
  expect(doubts.areOver()).toBe(false)
  await clock.advance(1)
  expect(doubts.areOver()).toBe(true)
})

test('what was seen to be done is in doubt no more', () => {
  const { doubts } = bed()
  doubts.raise('uid-0', TARGET, EVENT, { lateForMs: 10_000 })
  doubts.settle('uid-0', TARGET)
  expect(doubts.of('uid-0', TARGET)).toBeUndefined()
  expect(doubts.overtake('uid-0', TARGET)).toBe(false)
  expect(doubts.areOver()).toBe(true)
})

test('a call that was overtaken may still arrive, also after the answer to the one that came after it', async () => {
  const { clock, doubts } = bed()
  doubts.raise('uid-0', TARGET, EVENT, { lateForMs: 10_000 })
  await clock.advance(4_000)
  expect(doubts.overtake('uid-0', TARGET)).toBe(true)
  doubts.settle('uid-0', TARGET)
  expect(doubts.lateMs('uid-0')).toBe(6_000)
  expect(doubts.lateMs('uid-1')).toBe(0)
  expect(doubts.areOver()).toBe(false)
  await clock.advance(6_000)
  expect(doubts.lateMs('uid-0')).toBe(0)
  expect(doubts.areOver()).toBe(true)
})

test('a job is waited for as long as it may take, and holds up its scope meanwhile', async () => {
  const { clock, doubts } = bed()
  const other = { ...TARGET, target: 'web-1' }
  doubts.raise('uid-0', TARGET, { ...EVENT, outcome: 'pending' }, { lateForMs: 10_000 })
  expect(doubts.overtake('uid-0', TARGET)).toBe(false)
  expect(doubts.jobOf('uid-0', TARGET)).toMatchObject({ isOver: false })
  expect(doubts.areOver()).toBe(false)
  expect([doubts.hasOtherJob(other), doubts.hasOtherJob(TARGET)]).toEqual([true, false])
  expect(doubts.hasOtherJob({ ...other, scope: 'another' })).toBe(false)
  await clock.advance(10_000)
  expect(doubts.jobOf('uid-0', TARGET)).toMatchObject({ isOver: true })
  expect([doubts.areOver(), doubts.hasOtherJob(other)]).toEqual([true, false])
})

test('a call that nobody answered is no job', () => {
  const { doubts } = bed()
  doubts.raise('uid-0', TARGET, EVENT, { lateForMs: 10_000 })
  expect(doubts.jobOf('uid-0', TARGET)).toBeUndefined()
  expect(doubts.hasOtherJob({ ...TARGET, target: 'web-1' })).toBe(false)
})
