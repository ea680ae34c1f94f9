import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const KEYS = ['maxUnavailable', 'readyFor', 'onFailure']

test.each([
  ['maxUnavailabel', 'maxUnavailable'],
  ['maxunavailable', 'maxUnavailable'],
  ['readFor', 'readyFor'],
  ['password', undefined],
  ['x', undefined],
])('%s: %s', (word, expected) => {
  expect(nearest(word, KEYS)).toBe(expected)
})

test('nothing is near to nothing', () => {
  expect(nearest('x', [])).toBeUndefined()
})
