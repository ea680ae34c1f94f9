import { expect, test } from 'vitest'
import { CHECK_GROUPS, SEVERITY } from '../../src/doctor/findings.ts'
import { page } from './pages.ts'

const { text } = page('docs/doctor.md')
const sections = text.split(/^### /m).slice(1)
const words = { warning: 'Warning', failed: 'Failed' }

test('docs/doctor.md explains each finding under its code, with how bad it is, and no other', () => {
  const told = sections.map((section) => {
    const [, code, severity] = /^([a-z-]+)\n\n(Warning|Failed)\b/.exec(section) ?? []
    return [code, severity]
  })
  expect(Object.fromEntries(told)).toEqual(
    Object.fromEntries(Object.entries(SEVERITY).map(([code, severity]) => [code, words[severity]])),
  )
  expect(told.length).toBe(Object.keys(SEVERITY).length)
})

test('it has a part for each group of checks', () => {
  const parts = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
  expect(parts.length).toBe(Object.keys(CHECK_GROUPS).length + 1)
})
