import { expect, test } from 'vitest'
import { pollDelayMs, retryDelayMs } from './poll-delay.ts'

function timesIn(totalMs: number, delayMs: (waitedMs: number) => number): number {
  let times = 0
  for (let at = 0; at < totalMs; at += delayMs(at)) times++
  return times
}

test('a wait is drawn out by a twentieth at most, or by 10 ms', () => {
  expect([0, 300, 2_000, 60_000].map(pollDelayMs)).toEqual([10, 15, 100, 500])
})

test('a drain of a minute takes hardly more looks than one every 300 ms', () => {
  expect(timesIn(60_000, pollDelayMs)).toBeLessThan(210)
})

test('what is refused is tried again soon, and ever more rarely', () => {
  expect([0, 2_000, 20_000, 600_000].map(retryDelayMs)).toEqual([250, 250, 2_000, 5_000])
})

test('a minute of refusals is at most fifty calls', () => {
  expect(timesIn(60_000, retryDelayMs)).toBeLessThan(50)
})
