import { expect, test } from 'vitest'
import { isLogging } from './log-level.ts'

test.each<[boolean, NodeJS.ProcessEnv, boolean]>([
  [false, {}, false],
  [true, {}, true],
  [false, { SLUICE_LOG: 'info' }, true],
  [false, { SLUICE_LOG: '' }, false],
  [true, { SLUICE_LOG: 'silent' }, false],
])('with -v %s and %j there are log lines: %s', (verbose, env, expected) => {
  expect(isLogging(verbose, env)).toBe(expected)
})
