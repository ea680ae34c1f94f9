import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { INCIDENTS } from '../../demo/incidents/incidents.ts'
import { pageOf } from '../../demo/view/incident-show.ts'
import { SEVERITY } from '../../src/doctor/findings.ts'
import { OBSERVER_FINDING_CODES } from '../../src/observer/told.ts'
import { syncProblemWords } from '../../src/report/words/sync.ts'
import { words } from '../../src/report/words/words.ts'
import { blocks, page, ROOT, type Page } from './pages.ts'

const NAMES = readdirSync(join(ROOT, 'docs/incidents')).filter((name) => name !== 'README.md')
const ALERTS = readdirSync(join(ROOT, 'deploy/alerts'))
  .filter((name) => name.endsWith('.yaml'))
  .flatMap((name) => [...page(`deploy/alerts/${name}`).text.matchAll(/^ +- alert: (\w+)$/gm)].map(([, alert]) => alert!))

/** Codes and alerts of a page that are not there. */
function unknownNames(one: Page): string[] {
  const output = blocks(one)
    .map(({ code }) => code)
    .join('\n')
  const codes = (pattern: RegExp, from = one.text): string[] => [...from.matchAll(pattern)].map(([, code]) => code!)
  const among = (found: string[], known: readonly string[]): string[] => found.filter((code) => !known.includes(code))
  return [
    ...among(codes(/docs\/observe\.md#([a-z-]+)$/gm, output), OBSERVER_FINDING_CODES),
    ...among(codes(/docs\/doctor\.md#([a-z-]+)$/gm, output), Object.keys(SEVERITY)),
    ...among(codes(/^[×‼?] .* \[([a-z-]+)\]$/gm, output), Object.keys(words)),
    ...among(codes(/^\d\d:.* \[([a-z-]+)\]$/gm, output), Object.keys(syncProblemWords)),
    ...among(codes(/\d+ × ([a-z-]+)/g, output), OBSERVER_FINDING_CODES),
    ...among(codes(/\[`([a-z-]+)`\]\(\.\.\/explain\.md/g), Object.keys(words)),
    ...among(codes(/`([A-Z][a-z]+[A-Z]\w+)`/g), ALERTS),
  ]
}

test('the table of docs/incidents/README.md leads to each page, and to no other', () => {
  const rows = [...page('docs/incidents/README.md').text.matchAll(/^\| .* \| \[[\w-]+\]\(([\w-]+\.md)\) \| .*\|$/gm)]
  expect(rows.map(([, name]) => name).toSorted()).toEqual(NAMES.toSorted())
})

test.each(NAMES)('docs/incidents/%s names codes and alerts that there are, and goes from the symptom to the cure', (name) => {
  const one = page(`docs/incidents/${name}`)
  expect(unknownNames(one)).toEqual([])
  const headings = [...one.text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(expect.arrayContaining(['You see', 'Ask', 'Cure', 'Be told']))
  expect(one.text.split('## Be told')[1]).toMatch(/`Sluice\w+`/)
})

test.each(Object.values(INCIDENTS))('the page of the incident $name shows each finding of its demo', ({ name, expected }) => {
  const { text } = page(pageOf(name))
  for (const one of expected) {
    const [command, code] = one.split(' ')
    expect(text, one).toContain(command === 'explain' || command === 'sync' ? `[${code}]` : `docs/${command}.md#${code}`)
  }
  expect(page('docs/incidents/README.md').text).toContain(`sluice demo --incident ${name}`)
})

test.each(Object.values(INCIDENTS).filter(({ rules }) => rules !== undefined))(
  'the page of the incident $name has the rules of its demo',
  ({ name, rules }) => {
    expect(blocks(page(pageOf(name))).map(({ code }) => code.trimEnd())).toContain(rules!.document.trimEnd())
  },
)

test('a code or an alert that is not there is found', () => {
  const text = [
    '```',
    '  see docs/observe.md#stale-adress',
    '  see docs/doctor.md#sweep',
    '× web-1: it is so [no-such-reason]',
    '08:00:00.000  demo/web: it is so [no-such-problem]',
    'observed for 1s; 2 × sweeps',
    '```',
    '[`nothing-such`](../explain.md#what-it-finds) `SluiceNothing` `SluiceStaleAddress`',
  ].join('\n')
  const unknown = ['stale-adress', 'sweep', 'no-such-reason', 'no-such-problem', 'sweeps', 'nothing-such', 'SluiceNothing']
  expect(unknownNames({ file: 'x.md', text })).toEqual(unknown)
})
