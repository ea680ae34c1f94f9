import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { EXIT } from '../../src/library/exit-codes.ts'
import { createProgram } from '../../src/cli/program.ts'
import { processTerminal } from '../../src/cli/terminal.ts'
import { blocks, page, pages, spans, type Page } from './pages.ts'

const program = createProgram({
  invocation: { program: 'sluice', args: [] },
  terminal: processTerminal(),
  onDone: () => {},
})
const commands = new Map(program.commands.map((command) => [command.name(), command]))

function flagsOf({ options, commands: below }: Command): string[] {
  return [
    ...[options, ...below.map((one) => one.options)].flat().flatMap(({ long, short }) => [long ?? '', short ?? '']),
    '--help',
    '-h',
  ]
}

const everyFlag = new Set([program, ...commands.values()].flatMap((command) => flagsOf(command)))

/** Of the parts of Kubernetes, which pages speak of too. */
const FLAGS_OF_OTHERS = ['--controllers', '--kube-api-qps', '--leader-elect']

/** What a page says of the command line that is not so. */
function mistakes(one: Page): string[] {
  const code = [...blocks(one).flatMap((block) => block.code.split('\n')), ...spans(one)]
  const lines = code.map((line) => line.replace(/^\s*(?:\$ )?/, '').replace(/\s+#.*$/, ''))
  const calls = lines.flatMap((line) => /^(?:(?:kubectl )?sluice|node dist\/cli\/sluice\.js) (.*)$/.exec(line)?.[1] ?? [])
  const wrongCalls = calls.flatMap((call) => {
    const [name = '', ...words] = call.split(' ')
    const command = commands.get(name)
    if (command === undefined) return name.startsWith('--') && everyFlag.has(name) ? [] : [call]
    const flags = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split('=')[0]!)
    return flags.every((flag) => flagsOf(command).includes(flag)) ? [] : [call]
  })
  const flags = spans(one).filter((span) => /^--[a-z]/.test(span))
  const names = new Set([...everyFlag, ...FLAGS_OF_OTHERS])
  return [...wrongCalls, ...flags.filter((flag) => !names.has(flag.split(/[ =]/)[0]!))]
}

test.each(pages())('$file names no command and no flag that is not there', (one) => {
  expect(mistakes(one)).toEqual([])
})

test('a wrong command or flag is found', () => {
  const text =
    '`--no-such-flag` and `--grace 10s`\n```\nsluice upgrade --drain sts/web\nsluice promote\nsluice status -n x\n```\n'
  expect(mistakes({ file: 'x.md', text })).toEqual(['upgrade --drain sts/web', 'promote', '--no-such-flag'])
})

test('every command and every flag of upgrade is named in docs/operations.md or docs/config.md', () => {
  const text = page('docs/operations.md').text + page('docs/config.md').text
  const flags = commands.get('upgrade')!.options.flatMap(({ long, hidden }) => (hidden ? [] : [long!]))
  const named = [...flags, ...[...commands.keys()].map((name) => `sluice ${name}`)]
  expect(named.filter((name) => !text.includes(name))).toEqual([])
})

test('the table of exit codes is the one of the program', () => {
  const rows = [...page('docs/exit-codes.md').text.matchAll(/^\| (\d+) \| (\w+) \|/gm)]
  expect(Object.fromEntries(rows.map(([, code, name]) => [name, Number(code)]))).toEqual(EXIT)
  const codes = [...page('README.md').text.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))
  expect(codes.filter((code) => !Object.values<number>(EXIT).includes(code))).toEqual([])
})
