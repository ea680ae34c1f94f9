import { expect, test } from 'vitest'
import { WIRE_FAULTS } from '../simulation/faults.ts'
import { mutationsTable } from '../simulation/mutations/page.ts'
import { MUTATIONS } from '../simulation/mutations/mutations.ts'
import { readRecorded } from '../simulation/mutations/recorded.ts'
import { BY_OTHERS, BY_HAND, INCIDENTS, WISHES } from '../simulation/scene.ts'
import { page } from './pages.ts'

const { text } = page('docs/simulation.md')

/** The names in the first column of the table with this heading. */
function namesUnder(heading: string): string[] {
  const table = text.slice(text.indexOf(`| ${heading} | |\n`)).split('\n\n')[0]!
  return [...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name!)
}

test('docs/simulation.md explains every fault, incident and wish, and no other', () => {
  expect(namesUnder('fault')).toEqual(WIRE_FAULTS)
  expect(namesUnder('incident')).toEqual([...INCIDENTS, ...BY_HAND, ...BY_OTHERS])
  expect(namesUnder('wish')).toEqual(WISHES)
})

test('its invariants are those of the checker', () => {
  const checker = page('test/simulation/checker/violation.ts').text
  const rows = [...checker.matchAll(/^ \* - `(\w+)` (.*)$/gm)].map(([, name, means]) => `| \`${name}\` | ${means} |`)
  expect(rows.length).toBeGreaterThan(5)
  expect(text).toContain(`\n${rows.join('\n')}\n`)
})

test('its table of mutations is of now: npm run mutations', () => {
  expect(text).toContain(`\n${mutationsTable(MUTATIONS, readRecorded())}\n`)
})
