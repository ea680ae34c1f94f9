import { execFileSync } from 'node:child_process'
import { constantFrom, oneof, sample, string } from 'fast-check'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { invocationOf } from '../invocation.ts'
import { inert } from '../output/inert.ts'
import { samplePlan } from '../testing/samples.ts'
import { resumeCommand, undoneUnnamed } from './resume-command.ts'
import { shellQuote } from '../../report/words/shell-quote.ts'

test.each([
  ['/usr/bin/sluice', 'sluice'],
  ['/home/me/.krew/bin/kubectl-sluice', 'kubectl sluice'],
  ['/repo/src/cli/sluice.ts', 'sluice'],
  ['/repo/bin/kubectl-sluice.js', 'kubectl sluice'],
])('called as %s it is %s', (script, program) => {
  expect(invocationOf(['node', script, 'version'])).toEqual({ program, args: ['version'] })
})

test('a config that the environment named comes before what "--" keeps from being flags', () => {
  const resumed = (...args: string[]) => resumeCommand({ program: 'sluice', args }, {}, { SLUICE_CONFIG: 'prod.yaml' }).shell
  expect(resumed('upgrade', '--', 'sts/web')).toBe('sluice upgrade --config prod.yaml -- sts/web')
  expect(resumed('--', 'upgrade', 'sts/web')).toBe('sluice -- upgrade sts/web --config prod.yaml')
})

// Without the run, the command would take back a newer run that came in between.
test('an undo that names no run goes on with the one that it has chosen', () => {
  const plan = { ...samplePlan, undoes: { run: 'r6', images: [] } }
  const resumed = (...args: string[]) =>
    resumeCommand({ program: 'sluice', args }, {}, { SLUICE_CONFIG: 'c.yaml' }, undoneUnnamed({ undo: {} }, plan)).shell
  expect(resumed('undo', 'sts/web')).toBe('sluice undo sts/web --run r6 --config c.yaml')
  expect(resumed('undo', '--', 'sts/web')).toBe('sluice undo --run r6 --config c.yaml -- sts/web')
  // An undo with a run, a plan that is not known yet, and a command that is no undo, such as an abort.
  expect(undoneUnnamed({ undo: { run: 'r6' } }, plan)).toBeUndefined()
  expect([undoneUnnamed({ undo: {} }, samplePlan), undoneUnnamed({ undo: {} }, undefined)]).toEqual([undefined, undefined])
  expect(undoneUnnamed({}, plan)).toBeUndefined()
})

test('the same command again, as it was typed', () => {
  const invocation = invocationOf([
    'node',
    '/bin/kubectl-sluice',
    'upgrade',
    '-l',
    'app in (a, b)',
    'app=r:5000/app:v2',
    '--max-unavailable',
    '25%',
  ])
  expect(resumeCommand(invocation, {}, {}).shell).toBe(
    `kubectl sluice upgrade -l 'app in (a, b)' app=r:5000/app:v2 --max-unavailable 25%`,
  )
})

test('the files that the environment named are written out, but for those that a flag names', () => {
  const env = { SLUICE_CONFIG: 'my conf.yaml', KUBECONFIG: 'prod.conf' }
  const called = (flags: { config?: string; kubeconfig?: string }, ...args: string[]) =>
    resumeCommand({ program: 'sluice', args: ['upgrade', 'sts/web', ...args] }, flags, env).shell
  expect(called({})).toBe("sluice upgrade sts/web --kubeconfig prod.conf --config 'my conf.yaml'")
  expect(called({ config: 'other.yaml' }, '--config=other.yaml')).toBe(
    'sluice upgrade sts/web --config=other.yaml --kubeconfig prod.conf',
  )
  expect(called({ kubeconfig: 'k' }, '--kubeconfig', 'k')).toBe("sluice upgrade sts/web --kubeconfig k --config 'my conf.yaml'")
  // `--config` is the value of another flag here, and names no config.
  expect(called({ kubeconfig: 'k' }, '-l', '--config')).toBe("sluice upgrade sts/web -l --config --config 'my conf.yaml'")
})

function readBack(shell: string, words: readonly string[]): string[] {
  const printed = execFileSync(shell, ['-c', `printf '%s\\0' ${shellQuote(words)}`], { encoding: 'utf8' })
  return printed.split('\0').slice(0, -1)
}

const AWKWARD = ["it's", '$(id)', '`id`', '*', '~', 'a b', '', '"', '\\', '!x', '#', '&&', "\\'", 'ä']

// The words share one shell: fifty shells take long on a busy machine.
test('any shell reads back exactly the words', () => {
  const words = sample(oneof(string({ unit: 'grapheme-ascii' }), constantFrom(...AWKWARD)), 500)
  expect(readBack('/bin/sh', words)).toEqual(words)
})

const BASH = '/bin/bash'
const CONTROLS = ['\u001b]0;x\u0007.json', 'a\nb', '\t', '\u009b1m', '\u202e', '\u001b1', "\u001b'\\"]

test.skipIf(!existsSync(BASH))('where they hold control characters, bash does; and none is printed', () => {
  const found = sample(oneof(string({ unit: 'binary' }), constantFrom(...AWKWARD, ...CONTROLS)), 500)
  const words = found.map((word) => word.replaceAll('\0', ''))
  expect(inert(shellQuote(words))).toBe(shellQuote(words))
  expect(readBack(BASH, words)).toEqual(words)
  expect(shellQuote(['--report', '\u001b]0;x\u0007.json'])).toBe(String.raw`--report $'\033]0;x\007.json'`)
})
