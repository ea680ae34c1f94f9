/**
 * `npm run mutations` removes one protection after another, and runs seeds until one shows it. The results are kept in
 * test/golden/mutations.json, which `npm test` uses, and in the table of docs/simulation.md. The exit code is 1 where a mutation is not
 * found. `-- --only NAME` runs one mutation, and may be repeated; `-- --moved` runs the mutations that their seed no longer shows.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine } from '../command-line.ts'
import { findMutation, isFoundBy } from './find.ts'
import { MUTATIONS } from './mutations.ts'
import { mutationsTable, withTable } from './page.ts'
import { readRecorded, writeRecorded } from './recorded.ts'

const PAGE = join(import.meta.dirname, '../../../docs/simulation.md')

const USAGE = `usage: npm run mutations -- [--only NAME]... [--moved] [--seeds N] [--jobs N]
docs/simulation.md says what they do, and names the mutations`

const { values, wholeNumber, refuse } = commandLine(USAGE, {
  only: { type: 'string', multiple: true },
  moved: { type: 'boolean', default: false },
  seeds: { type: 'string', default: '5000' },
  jobs: { type: 'string' },
})
const most = wholeNumber('seeds', values.seeds, 1)
const jobs = values.jobs === undefined ? undefined : wholeNumber('jobs', values.jobs, 1)
const unknown = (values.only ?? []).filter((wanted) => !MUTATIONS.some(({ name }) => name === wanted))
if (unknown.length > 0) refuse(`there is no mutation "${unknown.join('", "')}"`)
const chosen = MUTATIONS.filter(({ name }) => values.only?.includes(name) ?? true)
const missed: string[] = []

console.log(`${'mutation'.padEnd(36)} ${'seeds'.padStart(5)}  found by`)
for (const mutation of chosen) {
  const { name } = mutation
  const known = readRecorded()[name]
  if (values.moved && known !== undefined && (await isFoundBy(mutation, known))) continue
  const found = await findMutation(mutation, { most, jobs })
  if (found === undefined) missed.push(name)
  console.log(
    `${name.padEnd(36)} ${found === undefined ? `not found in ${most}` : `${String(found.seed).padStart(5)}  ${found.invariant}: ${found.message.split('\n')[0]}`}`,
  )
  keep(name, found)
}
console.log(
  `${chosen.length - missed.length} of ${chosen.length} mutations found${missed.length > 0 ? `; not ${missed.join(', ')}` : ''}`,
)
process.exitCode = missed.length > 0 ? 1 : 0

/** Keeps the result of one mutation, since a complete run takes minutes. Results of removed mutations are dropped. */
function keep(name: string, found: { seed: number; invariant: string } | undefined): void {
  const before = readRecorded()
  const names = MUTATIONS.map((mutation) => mutation.name)
  const recorded = Object.fromEntries(
    names.flatMap((one) => {
      const entry = one === name ? found && { seed: found.seed, invariant: found.invariant } : before[one]
      return entry === undefined ? [] : [[one, entry]]
    }),
  )
  writeRecorded(recorded)
  writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8'), mutationsTable(MUTATIONS, recorded)))
}
