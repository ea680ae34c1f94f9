import { expect, test } from 'vitest'
import type { ReasonOf } from '../../reasons/reason.ts'
import { standing } from './pod-facts.ts'

const TERMINATING: ReasonOf<'terminating'> = {
  code: 'terminating',
  dueAt: '2026-01-01T00:01:00Z',
  finalizers: ['example.org/backup'],
}

test('how a pod stands is told after its name', () => {
  expect(standing(TERMINATING)).toBe(
    'is Terminating, due to be gone at 2026-01-01T00:01:00Z, held by finalizers example.org/backup',
  )
  expect(standing({ ...TERMINATING, finalizers: [] })).toBe('is Terminating, due to be gone at 2026-01-01T00:01:00Z')
  expect(standing({ code: 'node-silent', node: 'n1' })).toBe('is not ready (node n1 does not report)')
  expect(standing(undefined)).toBe('is not ready')
})
