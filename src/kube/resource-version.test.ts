import * as fc from 'fast-check'
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

test('ordered as the numbers that they are, however large', () => {
  const decimal = fc.oneof(fc.nat(), fc.bigInt({ min: 0n, max: 2n ** 70n })).map(String)
  fc.assert(
    fc.property(decimal, decimal, (a, b) => {
      expect([isNewerVersion(a, b), isOlderVersion(a, b)]).toEqual([BigInt(a) > BigInt(b), BigInt(a) < BigInt(b)])
    }),
  )
})

test('never newer and older at once, and the other way round from the other side, whatever they are', () => {
  const version = fc.oneof(fc.nat({ max: 30 }).map(String), fc.string({ maxLength: 3 }), fc.constantFrom('007', '-1', '1e3'))
  fc.assert(
    fc.property(version, version, (a, b) => {
      expect(isNewerVersion(a, b) && isOlderVersion(a, b)).toBe(false)
      expect(!isOlderVersion(a, b) || isNewerVersion(b, a)).toBe(true)
    }),
  )
})
