import { expect, test } from 'vitest'
import { isNewerVersion, isOlderVersion } from './resource-version.ts'

test.each([
  ['9', '10'],
  ['99', '100'],
  ['9007199254740992', '9007199254740993'],
  ['123', '124'],
])('%s is older than %s', (older, newer) => {
  expect([isOlderVersion(older, newer), isNewerVersion(newer, older)]).toEqual([true, true])
  expect([isNewerVersion(older, newer), isOlderVersion(newer, older)]).toEqual([false, false])
})

test('a version is neither newer nor older than itself', () => {
  for (const version of ['7', 'opaque'])
    expect([isNewerVersion(version, version), isOlderVersion(version, version)]).toEqual([false, false])
})

test('among versions without an order every other one is newer and none is older', () => {
  expect([isNewerVersion('a', 'b'), isNewerVersion('b', 'a'), isOlderVersion('a', 'b'), isOlderVersion('7', 'b')]).toEqual([
    true,
    true,
    false,
    false,
  ])
})
