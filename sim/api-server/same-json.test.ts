import { expect, test } from 'vitest'
import { isSameJson } from './same-json.ts'

test.each([
  { one: { a: 1, b: [{ c: null }] }, other: { b: [{ c: null }], a: 1 }, same: true },
  { one: { a: 1, b: undefined }, other: { a: 1 }, same: true },
  { one: { a: 1 }, other: { a: 1, b: undefined }, same: true },
  { one: { a: 1 }, other: { a: 1, b: null }, same: false },
  { one: { a: 1, b: 2 }, other: { a: 1 }, same: false },
  { one: { a: { b: 1 } }, other: { a: { b: 1, c: 2 } }, same: false },
  { one: [1, 2], other: [2, 1], same: false },
  { one: [], other: {}, same: false },
  { one: null, other: {}, same: false },
])('$one and $other', ({ one, other, same }) => {
  expect(isSameJson(one, other)).toBe(same)
  expect(isSameJson(other, one)).toBe(same)
})

test('a level takes no more than its own time, however deep it is', () => {
  let looks = 0
  const nested = (depth: number): unknown => ({
    get inner() {
      looks += 1
      return depth === 0 ? 'leaf' : nested(depth - 1)
    },
  })
  expect(isSameJson(nested(10), nested(10))).toBe(true)
  expect(looks).toBeLessThan(100)
})
