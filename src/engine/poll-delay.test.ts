import { expect, test } from 'vitest'
import { pollDelayMs } from './poll-delay.ts'

function looksIn(totalMs: number): number {
  let looks = 0
  for (let at = 0; at < totalMs; at += pollDelayMs(at)) looks++
  return looks
}

test('a wait is drawn out by a twentieth at most, or by 20 ms', () => {
  expect([0, 300, 2_000, 60_000].map(pollDelayMs)).toEqual([20, 20, 100, 500])
})

test('a drain of a minute takes fewer looks than one every 300 ms', () => {
  expect(looksIn(60_000)).toBeLessThan(200)
})
