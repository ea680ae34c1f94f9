import { expect, test } from 'vitest'
import { createColors } from '../../src/cli/output/color.ts'
import type { ActResult } from '../acts/result.ts'
import { comparison } from './comparison.ts'
import { happenings } from './happenings.ts'
import { createLines } from './lines.ts'
import { pictureOf, requestsOf } from './picture.ts'

const START = 1_000_000

/** web-1 is drained and admitted twice, web-0 stays in. Requests fail at web-1, and while no pod is left. */
const act: ActResult = {
  name: 'wait 7 s',
  pods: ['web-1', 'web-0'],
  startedAt: START,
  homeAt: START + 4_600,
  endedAt: START + 5_000,
  requests: 1_234,
  failures: [
    { type: 'failed', at: START + 2_100, kind: '502', pod: 'web-1' },
    { type: 'failed', at: START + 2_200, kind: 'ECONNRESET', pod: 'web-1' },
    { type: 'failed', at: START + 2_300, kind: '502', pod: 'web-1' },
    { type: 'failed', at: START + 3_600, kind: '503' },
  ],
  changes: [
    { at: START + 500, pod: 'web-1', isIn: false },
    { at: START + 2_000, pod: 'web-1', isIn: true },
    { at: START + 2_700, pod: 'web-1', isIn: false },
    { at: START + 4_000, pod: 'web-1', isIn: true },
  ],
  silences: [{ from: START + 3_100, to: START + 3_900 }],
}
const still: ActResult = { ...act, name: 'patch', requests: 400, failures: [], changes: [], silences: [] }
const colors = createColors(false)

test('the picture: a mark for each half of a second', () => {
  expect(pictureOf(act, colors)).toEqual([
    '  web-1   ━···✗···━━',
    '  web-0   ━━━━━━━━━━',
    '  no pod         ✗',
    '  node          ~~',
  ])
  expect(pictureOf(still, colors)).toEqual(['  web-1  ━━━━━━━━━━', '  web-0  ━━━━━━━━━━'])
})

test('the picture of an act that goes on ends now', () => {
  const silences = [{ from: START + 3_100 }]
  const now = { ...act, endedAt: START + 3_800, silences }
  expect(pictureOf(now, colors)).toEqual(['  web-1   ━···✗···', '  web-0   ━━━━━━━━', '  no pod         ✗', '  node          ~~'])
})

test('requests in a sentence, the most frequent failure first', () => {
  expect(requestsOf(act)).toBe('4 of 1,234 requests failed (502: 2, ECONNRESET: 1, 503: 1)')
  expect(requestsOf(still)).toBe('400 requests, none failed')
})

test('the acts beside each other', () => {
  expect(comparison([still, act])).toEqual([
    '              failed requests   web-1   web-0   flips   seconds',
    '1  patch             0 of 400     0/0     0/0       0       4.6',
    '2  wait 7 s        4 of 1,234     2/2     0/0       2       4.6',
  ])
})

const story = [
  '   0.5 s  web-1 drained',
  '   2.0 s  web-1 admitted',
  '   2.0 s  3 failed (502: 2, ECONNRESET: 1) at web-1 3',
  '   2.7 s  web-1 drained',
  '   3.0 s  1 failed (503: 1) at no pod 1',
  '   3.1 s  the node is late with its heartbeat; its pods serve on',
  '   3.9 s  the node reports again',
  '   4.0 s  web-1 admitted',
]

test('without a terminal: a line for each thing that happened, in order, and each once', () => {
  expect(happenings(act)).toHaveLength(story.length)
  let text = ''
  const view = createLines({ out: { write: (more: string) => (text += more) } as never, colors })
  for (let now = START; now <= act.endedAt; now += 100) {
    const until = <Item extends { at: number }>(items: readonly Item[]): Item[] => items.filter(({ at }) => at <= now)
    const silences = act.silences
      .filter(({ from }) => from <= now)
      .map(({ from, to }) => (to! <= now ? { from, to: to! } : { from }))
    view.update({ ...act, endedAt: now, failures: until(act.failures), changes: until(act.changes), silences })
  }
  view.end(act)
  expect(text.trimEnd().split('\n')).toEqual(story)
})
