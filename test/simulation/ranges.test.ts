import { expect, test } from 'vitest'
import { missing, shares } from './ranges.ts'

test.each([
  ['nothing done', [], [{ from: 10, count: 90 }]],
  ['all done', [{ from: 10, count: 90 }], []],
  ['the begin done', [{ from: 10, count: 20 }], [{ from: 30, count: 70 }]],
  ['the end done', [{ from: 80, count: 20 }], [{ from: 10, count: 70 }]],
  [
    'two portions done, out of their order',
    [
      { from: 60, count: 10 },
      { from: 20, count: 10 },
    ],
    [
      { from: 10, count: 10 },
      { from: 30, count: 30 },
      { from: 70, count: 30 },
    ],
  ],
])('what is missing with %s', (_, done, expected) => {
  expect(missing({ from: 10, count: 90 }, done)).toEqual(expected)
})

test('what is missing is shared out evenly, each seed once', () => {
  const ranges = [
    { from: 0, count: 7 },
    { from: 100, count: 6 },
  ]
  expect(shares(ranges, 2)).toEqual([[{ from: 0, count: 7 }], [{ from: 100, count: 6 }]])
  expect(shares(ranges, 3)).toEqual([
    [{ from: 0, count: 5 }],
    [
      { from: 5, count: 2 },
      { from: 100, count: 3 },
    ],
    [{ from: 103, count: 3 }],
  ])
})

test('there are no more shares than seeds, and none of nothing', () => {
  expect(shares([{ from: 1, count: 2 }], 4)).toEqual([[{ from: 1, count: 1 }], [{ from: 2, count: 1 }]])
  expect(shares([], 4)).toEqual([])
})
