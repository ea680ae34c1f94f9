import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Journal } from '../pods/glossary.ts'
import { LONGEST_JOURNAL, journalOf, readJournal, writeJournal } from './journal.ts'
import { realisticJournal, testTarget } from './testing/journals.ts'

const word = fc.string({ minLength: 1, maxLength: 12 })
const baseline = fc.record({ name: word, image: word, containerId: word, imageId: word }, { requiredKeys: ['name', 'image'] })
const target = fc.record({
  loadBalancer: word,
  target: word,
  scope: word,
  prior: fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value))),
  untouched: fc.boolean(),
})
const marked = fc.oneof(
  target,
  fc.tuple(target, fc.constantFrom('out' as const, 'in' as const)).map(([one, said]) => ({ ...one, untouched: false, said })),
)
const open = fc
  .record(
    {
      run: word,
      origin: word,
      epoch: fc.nat(),
      attempt: fc.nat().map((number) => number + 1),
      step: fc.constantFrom('drain', 'patched', 'restore'),
      generation: fc.nat(),
      rollback: fc.array(fc.record({ container: word, image: word }), { minLength: 1, maxLength: 3 }),
      baseline: fc.array(baseline, { maxLength: 3 }),
      endpoints: fc.array(word, { minLength: 1, maxLength: 3 }),
      targets: fc.array(marked, { maxLength: 3 }),
    },
    { requiredKeys: ['run', 'epoch', 'attempt', 'step', 'baseline', 'targets'] },
  )
  .filter(({ run, origin }) => run !== origin)

test('an open journal is read as it was written', () => {
  fc.assert(
    fc.property(open, (journal) => {
      expect(readJournal(writeJournal(journal as Journal))).toEqual({ kind: 'read', journal })
    }),
  )
})

test('a closed one keeps what fences a stale owner, and nothing else', () => {
  const text = writeJournal({ ...realisticJournal, origin: 'other', step: 'closed' })
  expect(JSON.parse(text)).toEqual({ v: 1, run: 'k3m9x7p2qa', epoch: 12, attempt: 1, step: 'closed', sum: expect.any(String) })
  expect(readJournal(text)).toEqual({
    kind: 'read',
    journal: { run: 'k3m9x7p2qa', epoch: 12, attempt: 1, step: 'closed', baseline: [], targets: [] },
  })
})

// A run that trusts such a record leaves the pod out of rotation.
test.each([
  ['the target of another pod', { lbs: [['edge', 'web/web-1', 'web', null, 0]] }],
  ['no target', { lbs: [] }],
  ['closed', { step: 'closed' }],
  ['out by an operator', { lbs: [['edge', 'web/web-0', 'web', null, 1]] }],
])('one that somebody has edited so that it can still be read is not trusted: %s', (_, edit) => {
  const own = testTarget({ target: 'web/web-0', prior: null })
  const written = JSON.parse(writeJournal({ ...realisticJournal, targets: [own] })) as Record<string, unknown>
  expect(readJournal(JSON.stringify(written, undefined, 2)).kind).toBe('read')
  expect(readJournal(JSON.stringify({ ...written, ...edit }))).toEqual({
    kind: 'unreadable',
    problem: { code: 'record-edited' },
  })
})

const UID = 'c4a1'
const NOT_JSON = { code: 'record-not-json' }

test('neither annotation nor condition is no journal', () => {
  expect(journalOf({ uid: UID, journal: {} })).toEqual({ kind: 'none' })
})

test('the annotation is the record in force, and without it the condition', () => {
  const [annotation, message] = [writeJournal(realisticJournal), writeJournal({ ...realisticJournal, step: 'drain' })]
  const condition = { index: 0, message }
  expect(journalOf({ uid: UID, journal: { annotation, condition } })).toEqual(readJournal(annotation))
  expect(journalOf({ uid: UID, journal: { annotation } })).toEqual(readJournal(annotation))
  // A patched pod without its annotation is open as before.
  expect(journalOf({ uid: UID, journal: { condition } })).toEqual(readJournal(message))
})

test('an annotation that came with the manifest of another pod is none, and one of an older sluice names no pod', () => {
  const copied = writeJournal(realisticJournal, 'another')
  expect(journalOf({ uid: UID, journal: { annotation: copied } })).toEqual({ kind: 'none' })
  const condition = { index: 0, message: writeJournal(realisticJournal) }
  expect(journalOf({ uid: UID, journal: { annotation: copied, condition } })).toEqual(readJournal(condition.message))
  for (const own of [writeJournal(realisticJournal, UID), writeJournal(realisticJournal)])
    expect(journalOf({ uid: UID, journal: { annotation: own } })).toEqual({ kind: 'read', journal: realisticJournal })
  // An unreadable record does not tell which pod it belongs to.
  const newer = copied.replace('"v":1', '"v":2')
  expect(journalOf({ uid: UID, journal: { annotation: newer } })).toMatchObject({ kind: 'unreadable' })
})

test('where either cannot be read, the pod has no journal that can', () => {
  const readable = writeJournal(realisticJournal)
  for (const [annotation, message, place] of [
    ['{', readable, 'annotation'],
    [readable, '{', 'condition'],
    [readable, undefined, 'condition'],
  ] as const) {
    const condition = { index: 0, ...(message === undefined ? {} : { message }) }
    expect(journalOf({ uid: UID, journal: { annotation, condition } })).toEqual({
      kind: 'unreadable',
      problem: { code: 'record-in', place, problem: NOT_JSON },
    })
  }
})

const valid = JSON.parse(writeJournal(realisticJournal)) as Record<string, unknown>

function invalid(issues: RegExp): object {
  return { code: 'record-invalid', issues: expect.stringMatching(issues) as string }
}

test.each([
  ['', NOT_JSON],
  ['{', NOT_JSON],
  ['null', invalid(/expected object/)],
  ['[]', invalid(/expected/)],
  ['{}', invalid(/v/)],
  [JSON.stringify({ ...valid, v: 2 }), { code: 'record-newer', version: 2, reads: 1 }],
  [JSON.stringify({ ...valid, needs: ['jobs'] }), { code: 'record-needs', needs: ['jobs'] }],
  [JSON.stringify({ ...valid, needs: ['jobs'], step: 'held' }), { code: 'record-needs', needs: ['jobs'] }],
  [JSON.stringify({ v: 3, anything: true }), { code: 'record-newer', version: 3, reads: 1 }],
  [JSON.stringify({ ...valid, v: 0 }), invalid(/v/)],
  [JSON.stringify({ ...valid, v: '1' }), invalid(/v/)],
  [JSON.stringify({ ...valid, step: 'drained' }), invalid(/step/)],
  [JSON.stringify({ ...valid, attempt: 0 }), invalid(/attempt/)],
  [JSON.stringify({ ...valid, epoch: -1 }), invalid(/^epoch: [^✖\n]+$/)],
  [JSON.stringify({ ...valid, epoch: 1.5 }), invalid(/epoch/)],
  [JSON.stringify({ ...valid, run: undefined }), invalid(/run/)],
  [JSON.stringify({ ...valid, lbs: [['edge', 'a', 'b', null, 4]] }), invalid(/lbs/)],
  [JSON.stringify({ ...valid, lbs: [['edge', 'a']] }), invalid(/lbs/)],
  [JSON.stringify({ ...valid, base: [['app']] }), invalid(/base/)],
])('%s cannot be read', (text, problem) => {
  expect(readJournal(text)).toEqual({ kind: 'unreadable', problem })
})

test('whatever stands there, it is read or said to be unreadable, and never taken for none', () => {
  const mutilated = fc.tuple(fc.nat(), fc.string({ maxLength: 3 })).map(([at, text]) => {
    const whole = JSON.stringify(valid)
    const place = at % whole.length
    return whole.slice(0, place) + text + whole.slice(place + 1)
  })
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), mutilated), (text) => {
      expect(readJournal(text).kind).not.toBe('none')
    }),
  )
})

test('two containers by digest and two balancers take about 1 KB', () => {
  // The size matters: every watcher of the pod receives the record, four times an upgrade.
  const bytes = new TextEncoder().encode(writeJournal(realisticJournal)).length
  expect(bytes).toBeGreaterThan(700)
  expect(bytes).toBeLessThan(1_100)
})

test('above 4 KB it is refused, counted in bytes', () => {
  const prior = (length: number, sign: string): Journal => ({
    ...realisticJournal,
    targets: [testTarget({ prior: sign.repeat(length) })],
  })
  const rest = writeJournal(prior(0, 'x')).length
  expect(writeJournal(prior(LONGEST_JOURNAL - rest, 'x'))).toHaveLength(LONGEST_JOURNAL)
  expect(() => writeJournal(prior(LONGEST_JOURNAL - rest + 1, 'x'))).toThrow('takes 4097 bytes, more than 4096: it has 1 targets')
  expect(() => writeJournal(prior(LONGEST_JOURNAL - rest, 'ö'))).toThrow(RangeError)
})

test('a record without a drain is read as it was written; one that is of other containers too, or of a drain, is not', () => {
  const undrained = ['log-agent']
  const agent = { name: 'log-agent', image: 'agent:v1' }
  const journal: Journal = { ...realisticJournal, baseline: [agent], targets: [], undrained }
  expect(readJournal(writeJournal(journal))).toEqual({ kind: 'read', journal })
  for (const change of [
    { targets: [testTarget()] },
    { baseline: [agent, { name: 'app', image: 'app:v1' }] },
    { rollback: [{ container: 'app', image: 'app:v1' }] },
  ])
    expect(readJournal(writeJournal({ ...journal, ...change }))).toMatchObject({
      kind: 'unreadable',
      problem: { code: 'record-invalid' },
    })
  const closed = readJournal(writeJournal({ ...journal, step: 'closed' }))
  expect(closed).toMatchObject({ kind: 'read', journal: { step: 'closed' } })
  expect(closed).not.toHaveProperty('journal.undrained')
})
