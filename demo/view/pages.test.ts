import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { furtherPages, whereIs } from './pages.ts'

test('pages are named where they are, and not where they are not', () => {
  expect(furtherPages().map(({ file }) => existsSync(file))).toEqual([true, true])
  expect(furtherPages(tmpdir())).toEqual([])
})

test('a page is named where it is, and as the repository has it where it is not', () => {
  expect(existsSync(whereIs('docs/incidents/flap.md'))).toBe(true)
  expect(whereIs('docs/incidents/flap.md', tmpdir())).toBe('docs/incidents/flap.md')
})
