import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openRecord } from './record.ts'
import { emptyTally } from './seeds.ts'

const RUN = { code: 'abc', node: 'v24.0.0', from: 1, count: 300 }
const first = { from: 1, count: 100, tally: { ...emptyTally(), seeds: 100 } }
const second = { from: 201, count: 100, tally: { ...emptyTally(), seeds: 100 } }

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-record-'))
  file = join(folder, 'run.jsonl')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a second sitting has the portions of the first', () => {
  const before = openRecord(file, RUN)
  expect(before.done).toEqual([])
  before.add(second)
  before.add(first)
  expect(openRecord(file, RUN).done).toEqual([first, second])
})

test('portions that follow one another become one, also in the file', () => {
  const run = openRecord(file, RUN)
  const between = {
    from: 101,
    count: 100,
    tally: { ...emptyTally(), seeds: 100, hits: { crash: 2 }, violations: [{ seed: 104, invariant: 'I1', message: 'twice' }] },
  }
  for (const portion of [second, between, first]) run.add(portion)
  const all = { from: 1, count: 300, tally: { ...between.tally, seeds: 300 } }
  expect(openRecord(file, RUN).done).toEqual([all])
  expect(
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line)),
  ).toEqual([all])
})

test('a line that was not written to its end is of a portion that is not done', () => {
  openRecord(file, RUN).add(first)
  appendFileSync(file, JSON.stringify(second).slice(0, 20))
  const after = openRecord(file, RUN)
  expect(after.done).toEqual([first])
  after.add(second)
  expect(openRecord(file, RUN).done).toEqual([first, second])
})

test.each([
  ['code', { code: 'abd' }],
  ['version of Node', { node: 'v24.0.1' }],
  ['first seed', { from: 2 }],
  ['number of seeds', { count: 301 }],
])('another %s is another run, and the file stays as it is', (_, change) => {
  openRecord(file, RUN).add(first)
  const before = readFileSync(file, 'utf8')
  expect(() => openRecord(file, { ...RUN, ...change })).toThrow('is of another run')
  expect(readFileSync(file, 'utf8')).toBe(before)
})
