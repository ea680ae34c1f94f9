import { expect, test } from 'vitest'
import { OBSERVER_FINDING_CODES } from '../../src/observer/told.ts'
import { page } from './pages.ts'

test('docs/observe.md explains each finding under its code, and no other', () => {
  const { text } = page('docs/observe.md')
  const told = [...text.matchAll(/^### (.*)$/gm)].map(([, code]) => code)
  expect(told.toSorted()).toEqual(OBSERVER_FINDING_CODES.toSorted())
})
