import { expect, test } from 'vitest'
import { parseRequest } from './request.ts'
import type { UsageError } from './usage-error.ts'

function problemsOf(...request: Parameters<typeof parseRequest>): readonly string[] {
  try {
    parseRequest(...request)
    return []
  } catch (error) {
    return (error as UsageError).problems
  }
}

test.each([
  ['an image', `app=${'a'.repeat(5000)}`],
  ['a part of an image', `app=registry/${'A'.repeat(400)}:v1`],
  ['a container', `${'a'.repeat(5000)}=app:v2`],
  ['a name', `sts/${'a'.repeat(5000)}`],
  ['an image without its container', `registry.example/${'a'.repeat(5000)}`],
  ['a kind', `${'a'.repeat(5000)}/web`],
])('%s of thousands of characters is not echoed whole', (_name, argument) => {
  const problems = problemsOf(['sts/web', argument], {})
  expect(problems).toHaveLength(1)
  expect(problems[0]!.length).toBeLessThan(800)
  expect(problems[0]).toContain(argument.slice(0, 100))
})

test.each([
  ['a name', 'a'.repeat(3000)],
  ['a value', `a=${'b'.repeat(3000)}`],
  ['a number', `a>${'b'.repeat(3000)}`],
  ['what stands in the wrong place', `a ${'b'.repeat(3000)}`],
])('nor is a label selector: %s', (_name, selector) => {
  const problems = problemsOf([], { selector })
  expect(problems).toHaveLength(1)
  expect(problems[0]!.length).toBeLessThan(400)
  expect(problems[0]).toContain(selector.slice(0, 100))
})

test('nor an image that is given twice', () => {
  const image = `app=${'registry/'.repeat(20)}app:v1`
  expect(problemsOf(['sts/web', image, image], {})).toEqual([
    `${JSON.stringify(`${image.slice(0, 120)}…`)}: container app is given twice`,
  ])
})
