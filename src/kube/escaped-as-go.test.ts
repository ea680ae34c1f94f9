import { expect, test } from 'vitest'
import { escapedAsGo } from './escaped-as-go.ts'

test('means the same, and has none of the characters that Go escapes', () => {
  const value = { 'R&D': ['<b>', '\u2028\u2029', 'é😀', '\b\f\u001b\u007f"\\ \\u0026'] }
  const escaped = escapedAsGo(JSON.stringify(value))
  expect(JSON.parse(escaped)).toEqual(value)
  expect(escaped).not.toMatch(/[<>&\u2028\u2029]/)
  expect(escapedAsGo('"a<b"')).toBe('"a\\u003cb"')
})
