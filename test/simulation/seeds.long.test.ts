import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { BY_OTHERS, INCIDENTS, WISHES } from './scene.ts'
import { WIRE_FAULTS } from './faults.ts'

/** The number of seeds from 1 on. `npm run simulate` runs more. */
const SEEDS = 20_000

test(`${SEEDS} seeds break no promise, and meet every fault`, async ({ signal }) => {
  const args = [join(import.meta.dirname, 'main.ts'), '--seeds', String(SEEDS)]
  // A violation ends the program with 1, and its output is needed. Past the time limit the program must not continue beside the next tests.
  // Its progress distinguishes a slow machine from an endless seed.
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26, signal }).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  )
  if (signal.aborted) console.log(stderr)
  // The seeds are checked before their number.
  expect(stdout.split('\n').filter((line) => line.startsWith('seed '))).toEqual([])
  expect(stdout.trim().split('\n').at(-1)).toMatch(new RegExp(`^${SEEDS} seeds, \\d+ upgrades, 0 violations$`))
  for (const fault of [...WIRE_FAULTS, ...INCIDENTS, ...BY_OTHERS, ...WISHES, 'lb-partial-batch', 'lb-false-success']) {
    expect(stdout).toMatch(new RegExp(`^  ${fault} +[1-9]`, 'm'))
  }
  console.log(stdout)
})
