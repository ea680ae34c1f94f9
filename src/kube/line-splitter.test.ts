import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineSplitter } from './line-splitter.ts'

const LINES = ['{"name":"plain"}', '{"name":"naïve – 漢字 – 🚦"}', '{"name":"last"}']
const BYTES = Buffer.from(`${LINES.join('\n')}\n`)

test('gives the same lines wherever the stream is cut, also inside a character', () => {
  for (let cut = 0; cut <= BYTES.length; cut += 1) {
    const lines: string[] = []
    const push = createLineSplitter((line) => lines.push(line))
    push(BYTES.subarray(0, cut))
    push(BYTES.subarray(cut))
    expect(lines).toEqual(LINES)
  }
})

test('gives the same lines byte by byte', () => {
  const lines: string[] = []
  const push = createLineSplitter((line) => lines.push(line))
  for (const byte of BYTES) push(Buffer.from([byte]))
  expect(lines).toEqual(LINES)
})

test('never gives what comes after the last newline, nor empty lines', () => {
  const lines: string[] = []
  const push = createLineSplitter((line) => lines.push(line))
  push(Buffer.from('\n\nwhole\n{"type":"ADD'))
  expect(lines).toEqual(['whole'])
})

test('gives every complete line that is not empty, however the stream is cut', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '{', '\n', 'ö', '漢', '🚦') })
  const cuts = fc.array(fc.nat({ max: 60 }), { maxLength: 8 })
  fc.assert(
    fc.property(text, cuts, (whole, places) => {
      const bytes = Buffer.from(whole)
      const lines: string[] = []
      const push = createLineSplitter((line) => lines.push(line))
      let from = 0
      for (const to of [...places.toSorted((a, b) => a - b), bytes.length]) {
        push(bytes.subarray(from, to))
        from = Math.max(from, Math.min(to, bytes.length))
      }
      const complete = whole.slice(0, whole.lastIndexOf('\n') + 1)
      expect(lines).toEqual(complete.split('\n').filter((line) => line !== ''))
    }),
    { numRuns: 500 },
  )
})
