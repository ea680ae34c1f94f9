import { expect, test } from 'vitest'
import type { Advice } from '../../reasons/advice.ts'
import type { Command } from '../../reasons/command.ts'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import type { RefusalCode } from '../../reasons/refusals.ts'
import { adviceLines } from './advice.ts'
import { wayOutOf, waysOut } from './refusals.ts'
import { shortWords } from './short.ts'
import { podEndings } from './testing/pod-endings.ts'
import { adviceSamples, commandSamples, reasonSamples } from './testing/samples.ts'
import { createWriting } from './words.ts'

const write = createWriting()

const reasons = Object.entries(reasonSamples).flatMap(([code, samples]) =>
  samples.map((facts) => ({ code, ...facts }) as unknown as Reason),
)
const refusals = reasons.filter((reason): reason is ReasonOf<RefusalCode> => reason.code in waysOut)
const advice = Object.entries(adviceSamples).flatMap(([code, samples]) =>
  samples.map((facts) => ({ code, ...facts }) as unknown as Advice),
)
const commands: Command[] = Object.values(commandSamples).flat()

/** The formal faults of the words of a code. */
function faults(code: string, sentence: string): string[] {
  const codes = new Set([code, ...Object.keys({ ...reasonSamples, ...adviceSamples })])
  const unmade = [...codes].filter((one) => sentence.includes(`${one} {`))
  const parts = ['undefined', '[object Object]', 'NaN', '  ', ' ,', ' ;', ' :', '()'].filter((part) => sentence.includes(part))
  return [
    ...parts.map((part) => `"${part}"`),
    ...unmade.map((one) => `no words for ${one}`),
    ...(sentence === sentence.trim() ? [] : ['a space at an end']),
    ...(sentence === '' ? ['empty'] : []),
  ]
}

/** The words of all samples, sorted by code. */
function allWords(): string {
  const sorted = <One>(some: readonly One[], name: (one: One) => string): One[] =>
    some.toSorted((a, b) => (name(a) < name(b) ? -1 : Number(name(a) > name(b))))
  const wayOut = (refusal: ReasonOf<RefusalCode>): string => {
    const { hint, command } = wayOutOf(refusal)
    return command === undefined ? hint : `${hint} ${write.command(command)}`
  }
  const ofCode = ({ code }: { code: string }): string => code
  return [
    'The words of src/report/words/testing/samples.ts, to be read in review. Written anew by',
    '    npx vitest run --project unit src/report/words/samples.test.ts -u',
    '',
    '# Reasons',
    ...sorted(reasons, ofCode).map((reason) => `${reason.code}: ${write.reason(reason)}`.trim()),
    '',
    '# Ways out of refusals',
    ...sorted(refusals, ofCode).map((refusal) => `${refusal.code}: ${wayOut(refusal)}`),
    '',
    '# Advice',
    ...sorted(advice, ofCode).map((one) => [`${one.code}:`, ...adviceLines(one, write)].join('\n  ')),
    '',
    '# Commands',
    ...sorted(commands, ({ command }) => command).map((one) => `${one.command}: ${write.command(one)}`),
    '',
  ].join('\n')
}

test('the words of every code are as they were read', async () => {
  await expect(allWords()).toMatchFileSnapshot('../../../test/golden/words.txt')
})

test.each(reasons)('the words of $code are whole', (reason) => {
  expect(faults(reason.code, write.reason(reason))).toEqual([])
})

test.each(reasons.filter(({ code }) => code in podEndings))('the short words of $code are whole', (reason) => {
  expect(faults(reason.code, shortWords(reason, write))).toEqual([])
})

test.each(refusals)('the way out of $code is whole', (refusal) => {
  expect(faults(refusal.code, wayOutOf(refusal).hint)).toEqual([])
})

// Indented lines are entries and commands in columns.
test.each(advice)('the advice $code is whole', (one) => {
  const prose = adviceLines(one, write).filter((line) => !line.startsWith('  '))
  expect(prose.length).toBeGreaterThan(0)
  expect(prose.flatMap((line) => faults(one.code, line))).toEqual([])
})

test('control: what is wrong with a sentence is found', () => {
  const later = { code: 'of-a-later-version' } as unknown as Reason
  expect(faults('pod-gone', `the pod ${String(undefined)} is gone`)).toEqual(['"undefined"'])
  expect(faults('pod-gone', 'the pod  is gone ')).toEqual(['"  "', 'a space at an end'])
  expect(faults('pod-gone', '')).toEqual(['empty'])
  expect(faults('overlooked', write.reason({ code: 'overlooked', pods: 7 } as unknown as Reason))).toEqual([
    'no words for overlooked',
  ])
  expect(faults(later.code, write.reason(later))).toEqual(['no words for of-a-later-version'])
})
