import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseWatchLine } from './watch-line.ts'

const TYPES = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']

test('whatever comes, a line has a known type or is malformed, and what is said of it does not quote it', () => {
  const lines = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ type: fc.constantFrom(...TYPES, 'NEW', 7), object: fc.jsonValue() }, { requiredKeys: [] })
      .map((one) => JSON.stringify(one)),
  )
  fc.assert(
    fc.property(lines, (line) => {
      const parsed = parseWatchLine(line)
      expect([...TYPES, 'malformed']).toContain(parsed.type)
      const quotes = parsed.type === 'malformed' && line.length > 20 && parsed.why.includes(line.slice(0, 20))
      expect(quotes).toBe(false)
    }),
    { numRuns: 1_000 },
  )
})

test('a line that is cut short is malformed, wherever it was cut', () => {
  const object = { metadata: { uid: 'u-1', resourceVersion: '12' }, spec: { nodeName: 'node-1' } }
  const line = JSON.stringify({ type: 'MODIFIED', object })
  expect(parseWatchLine(line)).toEqual({ type: 'MODIFIED', object, uid: 'u-1', version: '12' })
  for (let length = 0; length < line.length; length++) expect(parseWatchLine(line.slice(0, length)).type).toBe('malformed')
})
