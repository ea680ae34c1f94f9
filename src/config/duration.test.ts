import { describe, expect, test } from 'vitest'
import { assert, integer, property } from 'fast-check'
import { DURATION_PATTERN, formatDuration, LONGEST_DURATION_MS, parseDuration } from './duration.ts'

describe('parseDuration', () => {
  test.each([
    ['500ms', 500],
    ['60s', 60_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['1m30s', 90_000],
    ['1h2m3s4ms', 3_723_004],
    ['0s', 0],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toEqual({ ok: true, ms })
  })

  test.each([
    [60, '60 has no unit', 'write "60s" for seconds or "60ms" for milliseconds'],
    ['60', '60 has no unit', 'write "60s" for seconds or "60ms" for milliseconds'],
    ['', '"" is not a duration', 'write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s'],
    ['1.5s', '"1.5s" is not a duration', 'write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s'],
    ['-1s', '"-1s" is not a duration', 'write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s'],
    ['1s1m', '"1s1m" is not a duration', 'write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s'],
    ['5 m', '"5 m" is not a duration', 'write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s'],
    ['597h', '"597h" is too long', 'the longest duration is 596h'],
    [Infinity, '.inf is not a duration', 'write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s'],
    [['5s'], 'a list is not a duration', 'write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s'],
    [null, 'is empty', 'remove the key, or write a whole number with a unit, such as 500ms, 60s, 5m, 1h or 1m30s'],
  ])('%j is refused', (input, reason, hint) => {
    expect(parseDuration(input)).toEqual({ ok: false, reason, hint })
  })

  test('what is formatted is read back, and fits the pattern of the JSON Schema', () => {
    assert(
      property(integer({ min: 0, max: LONGEST_DURATION_MS }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toEqual({ ok: true, ms })
        expect(formatDuration(ms)).toMatch(new RegExp(DURATION_PATTERN))
      }),
    )
    expect('').not.toMatch(new RegExp(DURATION_PATTERN))
  })
})
