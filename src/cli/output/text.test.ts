import { describe, expect, test } from 'vitest'
import { useColor } from './color.ts'
import { pad, table, truncate } from './columns.ts'
import { formatElapsed } from './elapsed.ts'

describe('colour', () => {
  test.each([
    ['auto', {}, true, true],
    ['auto', {}, false, false],
    ['auto', { CI: '1' }, false, false],
    ['auto', { TERM: 'dumb' }, true, false],
    ['auto', { NO_COLOR: '1' }, true, false],
    ['auto', { NO_COLOR: '' }, true, true],
    ['auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    ['auto', { FORCE_COLOR: '1' }, false, true],
    ['auto', { FORCE_COLOR: '0' }, true, false],
    ['always', { NO_COLOR: '1' }, false, true],
    ['never', { FORCE_COLOR: '1' }, true, false],
  ] as const)('--color %s with %j on a terminal (%s): %s', (choice, env, isTerminal, expected) => {
    expect(useColor(choice, env, isTerminal)).toBe(expected)
  })
})

test.each([
  [0, '0.0s'],
  [440, '0.4s'],
  [9940, '9.9s'],
  [12_900, '12s'],
  [185_000, '3m05s'],
  [7_620_000, '2h07m'],
])('%i ms are %s', (ms, text) => {
  expect(formatElapsed(ms)).toBe(text)
})

describe('columns', () => {
  test('count what the eye sees', () => {
    expect(truncate('待っています', 7)).toBe('待って…')
    expect(truncate('👩‍👩‍👧‍👦 family', 4)).toBe('👩‍👩‍👧‍👦 …')
    expect(truncate('short', 5)).toBe('short')
    expect(truncate('short', 0)).toBe('')
    expect(pad('待', 4)).toBe('待  ')
  })

  test('are as wide as their widest cell, colour not counted', () => {
    expect(
      table(
        [
          ['A', 'B'],
          ['\u001b[31mlong\u001b[39m', ''],
          ['x', 'y'],
        ],
        { indent: ' ' },
      ),
    ).toEqual([' A     B', ' \u001b[31mlong\u001b[39m', ' x     y'])
  })
})
