import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { BY_OTHERS, INCIDENTS, WISHES } from './scene.ts'
import { WIRE_FAULTS } from './faults.ts'

/** More of them, and from elsewhere, by `npm run simulate`. */
const SEEDS = 20_000

test(`${SEEDS} seeds break no promise, and meet every fault`, async ({ signal }) => {
  const args = [join(import.meta.dirname, 'main.ts'), '--seeds', String(SEEDS)]
  // Where a promise is broken it ends with 1, and what it said is what has to be read. Past the time it must not go on beside
  // the tests that follow, and how far it came tells a slow machine from a seed that never ends.
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26, signal }).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  )
  if (signal.aborted) console.log(stderr)
  // Which seeds, before how many.
  expect(stdout.split('\n').filter((line) => line.startsWith('seed '))).toEqual([])
  expect(stdout.trim().split('\n').at(-1)).toMatch(new RegExp(`^${SEEDS} seeds, \\d+ upgrades, 0 violations$`))
  for (const fault of [...WIRE_FAULTS, ...INCIDENTS, ...BY_OTHERS, ...WISHES, 'lb-partial-batch', 'lb-false-success']) {
    expect(stdout).toMatch(new RegExp(`^  ${fault} +[1-9]`, 'm'))
  }
  console.log(stdout)
})
