import { expect, test } from 'vitest'
import { parseFailures } from './failures.ts'

test('instants come in one notation', () => {
  const text = '[{"at": "2026-11-21T11:17:53+01:00", "kind": "503", "pod": "web-1"}]'
  expect(parseFailures(text)).toEqual([{ at: '2026-11-21T10:17:53.000Z', kind: '503', pod: 'web-1' }])
})

test.each([
  ['', 'is not JSON: Unexpected end of JSON input'],
  ['{}', 'must be a list such as [{"at": "2026-11-21T10:17:53Z", "kind": "503"}]'],
  ['[null]', '[0] must be an object such as {"at": "2026-11-21T10:17:53Z", "kind": "503"}'],
  ['[{"at": "yesterday", "kind": "503"}]', '[0].at must be a time such as "2026-11-21T10:17:53Z"'],
  [
    '[{"kind": 503, "pod": 1}]',
    '[0].at must be a time such as "2026-11-21T10:17:53Z"; [0].pod must be text, such as "web-1"; [0].kind must be text, such as "503"',
  ],
])('%s is refused in words', (text, message) => {
  expect(() => parseFailures(text)).toThrow(new Error(message))
})
