import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { BY_OTHERS, INCIDENTS, WISHES } from './scene.ts'
import { WIRE_FAULTS } from './faults.ts'

/** More of them, and from elsewhere, by `npm run simulate`. */
const SEEDS = 20_000

test(`${SEEDS} seeds break no promise, and meet every fault`, async () => {
  const args = [join(import.meta.dirname, 'main.ts'), '--seeds', String(SEEDS)]
  // Where a promise is broken it ends with 1, and what it said is what has to be read.
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26 }).catch(
    (error: unknown) => error as { stdout: string },
  )
  // Which seeds, before how many.
  expect(stdout.split('\n').filter((line) => line.startsWith('seed '))).toEqual([])
  expect(stdout.trim().split('\n').at(-1)).toMatch(new RegExp(`^${SEEDS} seeds, \\d+ upgrades, 0 violations$`))
  for (const fault of [...WIRE_FAULTS, ...INCIDENTS, ...BY_OTHERS, ...WISHES, 'lb-partial-batch', 'lb-false-success']) {
    expect(stdout).toMatch(new RegExp(`^  ${fault} +[1-9]`, 'm'))
  }
  console.log(stdout)
})
