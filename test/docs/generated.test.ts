import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { drawing, podStates } from '../../scripts/draw-machine.ts'
import { currentPage } from '../../scripts/write-json-page.ts'
import { currentSchema } from '../../scripts/write-schema.ts'
import { page, ROOT } from './pages.ts'

test('docs/config.schema.json is of now: node scripts/write-schema.ts', async () => {
  expect(JSON.parse(readFileSync(join(ROOT, 'docs/config.schema.json'), 'utf8'))).toEqual(await currentSchema())
})

test('docs/json.md has the declarations of now: node scripts/write-json-page.ts', () => {
  expect(page('docs/json.md').text).toBe(currentPage())
  expect(currentPage()).toMatch(/^interface RunReport \{$/m)
})

test('the drawing in docs/states.md is of now: node scripts/draw-machine.ts', () => {
  expect(page('docs/states.md').text).toContain(`\n${drawing()}\n`)
})

test('docs/states.md explains every state, and no other', () => {
  const explained = [...page('docs/states.md').text.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  expect(explained).toEqual([...podStates().keys()])
})

test('docs/dependencies.md has a line for every dependency, and no other', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'devDependencies',
    Record<string, string>
  >
  const lines = [...page('docs/dependencies.md').text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name)
  expect(lines.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort())
})
