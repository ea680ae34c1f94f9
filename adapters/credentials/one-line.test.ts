import { expect, test, vi } from 'vitest'
import * as blotting from './blot-out.ts'
import { excerpt, oneLine } from './one-line.ts'

test('of a long answer the beginning is looked at, and no more', () => {
  const blotOut = vi.fn(blotting.createBlotter(['s3cr3t']))
  vi.spyOn(blotting, 'createBlotter').mockReturnValueOnce(blotOut)
  const page = `<p>the token s3cr3t is wrong</p>${'<p>hello</p>\n'.repeat(100_000)}`
  const shown = excerpt(page, ['s3cr3t'])
  expect(shown).toMatch(/^<p>the token \*\*\* is wrong<\/p>.*…$/)
  expect(shown).toHaveLength(200)
  expect(blotOut.mock.calls[0]![0].length).toBeLessThan(page.length / 10)
})

test('a secret that is cut in two is not shown by half, wherever the cut is', () => {
  for (let before = 16_370; before < 16_390; before++) {
    const page = `${' '.repeat(before)}s3cr3t-of-the-edge${' '.repeat(1_000)}`
    expect(['***', '…']).toContain(excerpt(page, ['s3cr3t-of-the-edge']))
  }
})

test('a value of three characters is shown, and one of four is not', () => {
  expect(oneLine('wants level 1, mode off and pin 1234', ['1', 'off', '1234'])).toBe('wants level 1, mode off and pin ***')
})
