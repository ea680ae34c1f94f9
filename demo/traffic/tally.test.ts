import { expect, test } from 'vitest'
import type { Failure } from './lines.ts'
import { addLine, byKind, byPod, emptyTally, secondsOf } from './tally.ts'

const failed = (at: number, kind: string, pod?: string): Failure => ({ type: 'failed', at, kind, ...(pod && { pod }) })

test('answered and failed requests are counted, failed ones with all that is known of them', () => {
  const tally = emptyTally()
  addLine(tally, { type: 'answered', at: 1_000, count: 40 })
  addLine(tally, failed(1_010, '502', 'web-1'))
  addLine(tally, { type: 'answered', at: 1_100, count: 2 })
  addLine(tally, { type: 'end', at: 1_200, late: 3, maxLateMs: 31 })
  expect(tally).toEqual({ requests: 43, failures: [failed(1_010, '502', 'web-1')], late: 3 })
})

test('failures by kind, by pod, and by second', () => {
  const failures = [
    failed(10_900, '502', 'web-1'),
    failed(11_100, 'ECONNRESET'),
    failed(11_200, '502', 'web-0'),
    failed(13_000, '502', 'web-1'),
  ]
  expect(byKind(failures)).toEqual([
    ['502', 3],
    ['ECONNRESET', 1],
  ])
  expect(byPod(failures)).toEqual([
    ['', 1],
    ['web-0', 1],
    ['web-1', 2],
  ])
  expect(secondsOf(failures, 10_000).map(([second, own]) => [second, own.length])).toEqual([
    [0, 1],
    [1, 2],
    [3, 1],
  ])
})
