import { expect, test } from 'vitest'
import { CHECK_GROUPS, type Finding, severityOf, type Skip, type SkipCode, type SkipFields } from '../../doctor/findings.ts'
import { diagnose } from '../../doctor/doctor.ts'
import { FAULTS } from '../../doctor/testing/faults.ts'
import { checkTitles, findingHint, findingMessage, findingPage, groupTitles, skipMessage } from './doctor.ts'
import { createWriting } from './words.ts'

const write = createWriting()

const found = Object.entries(FAULTS).flatMap(([code, some]) =>
  some.flatMap((gathered): Finding[] =>
    diagnose(gathered).checks.flatMap((check) => check.findings.filter((finding) => finding.code === code)),
  ),
)

/** The type requires a sample of each code. */
const SKIPS: { [C in SkipCode]: SkipFields[C] } = {
  'no-right': { right: 'list pods', namespace: 'shop' },
  'not-served': { resource: 'endpoints' },
  'not-read': { resource: 'nodes', because: { code: 'error', said: 'no answer' } },
  'no-config': {},
  'probe-not-asked-for': {},
  'nothing-there': { resource: 'leases', namespace: 'kube-node-lease' },
  'api-server-not-read': {},
  'no-date': {},
  'rights-not-asked': { because: { code: 'error', said: 'no answer' } },
  'run-at-work': { namespace: 'shop', holders: ['ci_1'] },
  'no-load-balancer-lists': { loadBalancers: ['edge'] },
  'servers-not-asked': { loadBalancer: 'edge', servers: 7 },
}
const skips = Object.entries(SKIPS).map(([code, facts]) => ({ code, ...facts }) as Skip)

function faults(sentence: string): string[] {
  return ['undefined', '[object', 'NaN', '  ', ' ,', ' ;', ' :', '()'].filter((part) => sentence.includes(part))
}

test('the words of the doctor are as they were read', async () => {
  const text = [
    'The words of `sluice doctor`, to be read in review. Written anew by',
    '    npx vitest run --project unit src/report/words/doctor.test.ts -u',
    '',
    ...Object.entries(CHECK_GROUPS).flatMap(([group, names]) => [
      `# ${groupTitles[group as keyof typeof groupTitles]}`,
      ...names.map((name) => `${name}: ${checkTitles[name]}`),
      '',
    ]),
    '# Findings',
    ...found.flatMap((one) => [
      `${one.code} (${severityOf(one)}): ${findingMessage(one, write)}`,
      ...findingHint(one, write)
        .split('\n')
        .map((line) => `    ${line}`),
    ]),
    '',
    '# Skipped',
    ...skips.map((one) => `${one.code}: ${skipMessage(one, write)}`),
    '',
  ].join('\n')
  await expect(text).toMatchFileSnapshot('../../../test/golden/doctor-words.txt')
})

test.each(found)('the words of $code are whole', (finding) => {
  const [message, hint] = [findingMessage(finding, write), findingHint(finding, write)]
  // Commands are on indented lines.
  const prose = hint.split('\n').filter((line) => !line.startsWith('  '))
  expect([message, ...prose].flatMap(faults)).toEqual([])
  expect(message.length * hint.length).toBeGreaterThan(0)
  expect(findingPage(finding)).toBe(`docs/doctor.md#${finding.code}`)
})

test.each(skips)('the words of $code are whole', (skip) => {
  expect(faults(skipMessage(skip, write))).toEqual([])
})

test('control: what is wrong with a sentence is found', () => {
  expect(faults(`node ${String(undefined)}  is () there`)).toEqual(['undefined', '  ', '()'])
})
