import { expect, test } from 'vitest'
import { parseRequest } from './request.ts'
import type { UsageError } from './usage-error.ts'

test.each([
  ['an image', `app=${'a'.repeat(5000)}`],
  ['a part of an image', `app=registry/${'A'.repeat(400)}:v1`],
  ['a container', `${'a'.repeat(5000)}=app:v2`],
  ['a name', `sts/${'a'.repeat(5000)}`],
  ['an image without its container', `registry.example/${'a'.repeat(5000)}`],
  ['a kind', `${'a'.repeat(5000)}/web`],
])('%s of thousands of characters is not echoed whole', (_name, argument) => {
  let problems: readonly string[] = []
  try {
    parseRequest(['sts/web', argument], {})
  } catch (error) {
    problems = (error as UsageError).problems
  }
  expect(problems).toHaveLength(1)
  expect(problems[0]!.length).toBeLessThan(800)
  expect(problems[0]).toContain(argument.slice(0, 100))
})
