import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** A flag of the command line, in a text that a program may show. */
const FLAG = /(?:^|[\s(`'"])(?:--[a-z]|-n\))/

function flagsIn(folder: string): string[] {
  const root = join(import.meta.dirname, folder)
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('test'))
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line) => (FLAG.test(line) && !/^\s*(?:\/\*|\*|\/\/)/.test(line) ? [`${file}: ${line.trim()}`] : [])),
    )
}

test('no message of the way to a cluster speaks of flags: a program has none', () => {
  expect(flagsIn('.')).toEqual([])
})

test('control: a flag is found', () => {
  expect(flagsIn('../report/words').some((line) => line.startsWith('shell.ts'))).toBe(true)
})
