import { expect, test } from 'vitest'
import { parseMaxUnavailable } from './max-unavailable.ts'

test.each([
  [1, { count: 1 }],
  ['3', { count: 3 }],
  ['25%', { percent: 25 }],
  ['100%', { percent: 100 }],
])('%j is understood', (input, value) => {
  expect(parseMaxUnavailable(input)).toEqual({ ok: true, value })
})

test.each([
  [0, '0 would never let a pod go'],
  ['0%', '0% would never let a pod go'],
  ['101%', '101% is more than all pods'],
  [-1, '-1 is neither a number of pods nor a share of them'],
  [1.5, '1.5 is neither a number of pods nor a share of them'],
  ['half', '"half" is neither a number of pods nor a share of them'],
  ['25 %', '"25 %" is neither a number of pods nor a share of them'],
  [null, 'nothing is neither a number of pods nor a share of them'],
  [{ percent: 3 }, 'a mapping is neither a number of pods nor a share of them'],
])('%j is refused', (input, reason) => {
  expect(parseMaxUnavailable(input)).toMatchObject({ ok: false, reason })
})
