import { execFileSync } from 'node:child_process'
import { constantFrom, array, assert, oneof, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { invocationOf } from './invocation.ts'
import { resumeCommand } from './resume-command.ts'
import { shellQuote } from './shell-quote.ts'

test.each([
  ['/usr/bin/sluice', 'sluice'],
  ['/home/me/.krew/bin/kubectl-sluice', 'kubectl sluice'],
  ['/repo/src/cli/sluice.ts', 'sluice'],
  ['/repo/bin/kubectl-sluice.js', 'kubectl sluice'],
])('called as %s it is %s', (script, program) => {
  expect(invocationOf(['node', script, 'version'])).toEqual({ program, args: ['version'] })
})

test('a config that the environment named comes before what "--" keeps from being flags', () => {
  const invocation = { program: 'sluice', args: ['upgrade', '--', 'sts/web'] }
  expect(resumeCommand(invocation, { SLUICE_CONFIG: 'prod.yaml' })).toBe('sluice upgrade --config prod.yaml -- sts/web')
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
  expect(resumeCommand(invocation)).toBe(`kubectl sluice upgrade -l 'app in (a, b)' app=r:5000/app:v2 --max-unavailable 25%`)
})

test('a config that the environment named is written out', () => {
  const env = { SLUICE_CONFIG: 'my conf.yaml' }
  const called = (...args: string[]) => resumeCommand({ program: 'sluice', args }, env)
  expect(called('upgrade', 'sts/web')).toBe("sluice upgrade sts/web --config 'my conf.yaml'")
  expect(called('upgrade', 'sts/web', '--config', 'other.yaml')).toBe('sluice upgrade sts/web --config other.yaml')
})

test('a shell reads back exactly the words', () => {
  const words = array(
    oneof(string(), constantFrom("it's", '$(id)', '`id`', '*', '~', 'a b', '', '"', '\\', '!x', '#', '&&', 'a\nb')),
    { minLength: 1 },
  )
  assert(
    property(words, (list) => {
      const printable = list.map((word) => word.replaceAll('\0', ''))
      const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${shellQuote(printable)}`], { encoding: 'utf8' })
      expect(printed.split('\0').slice(0, -1)).toEqual(printable)
    }),
    { numRuns: 50 },
  )
})
