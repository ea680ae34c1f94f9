import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { furtherPages } from './pages.ts'

test('pages are named where they are, and not where they are not', () => {
  expect(furtherPages().map(({ file }) => existsSync(file))).toEqual([true, true])
  expect(furtherPages(tmpdir())).toEqual([])
})
