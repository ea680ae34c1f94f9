import { expect, test } from 'vitest'
import { matchesSelector } from './label-selector.ts'

test.each([
  [{}, true],
  [{ matchLabels: { a: '1' } }, true],
  [{ matchLabels: { a: '2' } }, false],
  [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['1', '2'] }] }, true],
  [{ matchExpressions: [{ key: 'b', operator: 'In', values: ['1'] }] }, false],
  [{ matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['1'] }] }, false],
  [{ matchExpressions: [{ key: 'b', operator: 'NotIn', values: ['1'] }] }, true],
  [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, false],
  [{ matchExpressions: [{ key: 'a', operator: 'Like', values: ['1'] }] }, false],
])('the selector %j selects a=1: %s', (selector, expected) => {
  expect(matchesSelector(selector, { a: '1' })).toBe(expected)
})
