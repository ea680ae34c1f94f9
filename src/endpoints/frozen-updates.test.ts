import { expect, test } from 'vitest'
import { freezeFixedIn, numbersOfVersion } from './frozen-updates.ts'

test.each([
  ['v1.27.16', undefined],
  ['v1.28.11', undefined],
  ['v1.28.12', '1.28.15'],
  ['v1.28.14', '1.28.15'],
  ['v1.28.15', undefined],
  ['v1.29.6', undefined],
  ['v1.29.7', '1.29.10'],
  ['v1.29.10', undefined],
  ['v1.30.2', undefined],
  ['v1.30.3', '1.30.6'],
  ['v1.30.5-eks-a737599', '1.30.6'],
  ['v1.30.6', undefined],
  ['v1.31.0', '1.31.2'],
  ['v1.31.1', '1.31.2'],
  ['v1.31.2', undefined],
  ['v1.32.0', undefined],
  ['v1.37.2', undefined],
  ['unknown', undefined],
])('freeze: %s is fixed in %s', (version, fixedIn) => {
  expect(freezeFixedIn(numbersOfVersion(version))).toBe(fixedIn)
})
