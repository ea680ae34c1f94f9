import { expect, test } from 'vitest'
import { drainsAndRestores, flips, type RotationChange } from './change.ts'

const changes: RotationChange[] = [
  { at: 1, pod: 'web-1', isIn: false },
  { at: 2, pod: 'web-0', isIn: false },
  { at: 3, pod: 'web-1', isIn: true },
  { at: 4, pod: 'web-1', isIn: false },
  { at: 5, pod: 'web-1', isIn: true },
]

test('drains and restores are counted for each pod', () => {
  expect(drainsAndRestores(changes, 'web-1')).toEqual({ drains: 2, restores: 2 })
  expect(drainsAndRestores(changes, 'web-0')).toEqual({ drains: 1, restores: 0 })
  expect(drainsAndRestores(changes, 'web-2')).toEqual({ drains: 0, restores: 0 })
})

test('flips are what is beyond one drain and one restore', () => {
  expect(flips({ drains: 1, restores: 1 })).toBe(0)
  expect(flips({ drains: 0, restores: 0 })).toBe(0)
  expect(flips({ drains: 3, restores: 2 })).toBe(3)
})
