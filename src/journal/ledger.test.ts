import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { said } from '../cli/testing/samples.ts'
import type { Ledger, LedgerEntry, LedgerPart } from './ledger.ts'
import {
  BYTES_PER_CHUNK,
  ENTRIES_PER_CHUNK,
  HEADER_KEY,
  chunkName,
  ledgerChunks,
  neverBegun,
  readLedgers,
  writeEntry,
  writeHeader,
} from './ledger.ts'
import { testTarget } from './testing/journals.ts'

function entryOf(index: number, overrides: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    uid: `0f0e0d0c-0b0a-4000-8000-${String(index).padStart(12, '0')}`,
    pod: `web-${index}`,
    address: `10.0.${Math.floor(index / 250)}.${index % 250}`,
    node: 'node-1',
    owner: { kind: 'StatefulSet', name: 'web', uid: 'f0e0d0c0-0b0a-4000-8000-000000000000', apiVersion: 'apps/v1' },
    targets: [testTarget({ target: `pool/web-${index}` })],
    before: { images: [{ container: 'app', image: 'app:v1' }], revision: 'web-1' },
    state: 'open',
    ...overrides,
  }
}

function ledgerOf(count: number, overrides: Partial<LedgerEntry> = {}): Ledger {
  const entries = Array.from({ length: count }, (_, index) => entryOf(index, overrides))
  const web = { ...STATEFUL_SET, name: 'web' }
  return {
    header: {
      run: 'k3m9',
      workloads: [{ ...web, uid: 'w', templates: [{ of: web, images: [{ container: 'app', image: 'app:v1' }] }] }],
      images: [{ container: 'app', image: 'app:v2' }],
      startedAt: '2026-01-01T00:00:00.000Z',
      chunks: 1,
    },
    entries: new Map(entries.map((entry) => [entry.uid, entry])),
  }
}

function stored(ledger: Ledger): LedgerPart[] {
  const { run } = ledger.header
  return ledgerChunks(ledger).map((data, chunk) => ({
    name: chunkName(run, chunk),
    run,
    workloads: ['statefulset/web'],
    data,
    version: `${chunk + 7}`,
  }))
}

const bytesOf = (data: Record<string, string>): number =>
  Object.entries(data).reduce((sum, [key, text]) => sum + key.length + Buffer.byteLength(text), 0)

test.each([
  { pods: 0, chunks: 1 },
  { pods: 1, chunks: 1 },
  { pods: ENTRIES_PER_CHUNK, chunks: 1 },
  { pods: ENTRIES_PER_CHUNK + 1, chunks: 2 },
  { pods: 10_000, chunks: 10 },
])('$pods pods take $chunks ConfigMaps, and are read as they were', ({ pods, chunks }) => {
  const ledger = ledgerOf(pods)
  const maps = stored(ledger)
  expect(maps.map(({ name }) => name).slice(0, 2)).toEqual(['sluice-run-k3m9', 'sluice-run-k3m9-1'].slice(0, Math.min(chunks, 2)))
  expect(maps).toHaveLength(chunks)
  const [read] = readLedgers(maps.toReversed())
  expect(read).toMatchObject({ kind: 'read', ledger: { header: { ...ledger.header, chunks }, entries: ledger.entries } })
  expect(maps.every(({ data }) => bytesOf(data) < 2 ** 20)).toBe(true)
})

test('entries with a large prior state spread over more ConfigMaps, each well below 1 MiB', () => {
  const maps = stored(ledgerOf(2_000, { targets: [testTarget({ prior: 'ö'.repeat(1_000) })] }))
  expect(maps.length).toBeGreaterThan(8)
  for (const { data } of maps) expect(bytesOf(data)).toBeLessThan(BYTES_PER_CHUNK + 8_192)
  expect(readLedgers(maps)[0]).toMatchObject({ kind: 'read' })
})

test('each entry is found in its own chunk', () => {
  const [read] = readLedgers(stored(ledgerOf(ENTRIES_PER_CHUNK + 1)))
  const chunkOf = read?.kind === 'read' ? read.places.chunkOf : new Map<string, number>()
  expect(chunkOf.get(entryOf(0).uid)).toBe(0)
  expect(chunkOf.get(entryOf(ENTRIES_PER_CHUNK).uid)).toBe(1)
  expect(chunkOf.has('header')).toBe(false)
})

test('without its header it was never begun, and is left out', () => {
  const maps = stored(ledgerOf(ENTRIES_PER_CHUNK + 1)).slice(1)
  expect(readLedgers(maps)).toEqual([])
})

test('the first ConfigMap of one that has not begun is known by its name, whatever stands in it', () => {
  const [first, ...others] = stored(ledgerOf(ENTRIES_PER_CHUNK + 1)) as [LedgerPart, ...LedgerPart[]]
  const { header: _, ...data } = first.data
  const WEB = ['statefulset/web', 'statefulset/api']
  expect(neverBegun([first, ...others], WEB)).toEqual([])
  expect(neverBegun([{ ...first, data }, ...others], WEB)).toEqual([{ ...first, data, fence: undefined }])
  expect(neverBegun([{ ...first, data: { ...data, fence: 'abc' } }], WEB)).toMatchObject([{ fence: 'abc' }])
  expect(neverBegun([{ ...first, data }, ...others], ['statefulset/api'])).toEqual([])
  expect(readLedgers([{ ...first, data }, ...others])).toEqual([])
})

test('with a part missing it cannot be read', () => {
  const maps = stored(ledgerOf(2 * ENTRIES_PER_CHUNK + 1)).filter((_, chunk) => chunk !== 1)
  expect(readLedgers(maps)).toEqual([
    {
      kind: 'unreadable',
      run: 'k3m9',
      problem: { code: 'record-part-missing', part: 'sluice-run-k3m9-1' },
      workloads: ['statefulset/web'],
    },
  ])
})

const invalid = (issues: RegExp) => ({ code: 'record-invalid', issues: expect.stringMatching(issues) as string })

test.each([
  {
    name: 'a newer header',
    header: JSON.stringify({ v: 2, run: 'k3m9' }),
    problem: { code: 'record-newer', version: 2, reads: 1 },
  },
  {
    name: 'one that needs what this sluice does not know',
    header: JSON.stringify({ v: 1, run: 'k3m9', needs: ['steps'] }),
    problem: { code: 'record-needs', needs: ['steps'] },
  },
  { name: 'one of no version', header: JSON.stringify({ run: 'k3m9' }), problem: invalid(/v/) },
  { name: 'one of an older version', header: JSON.stringify({ v: 0, run: 'k3m9' }), problem: invalid(/v/) },
  { name: 'no JSON', header: '{', problem: { code: 'record-not-json' } },
  { name: 'no chunks', header: writeHeader({ ...ledgerOf(0).header, chunks: 0 }), problem: invalid(/chunks/) },
])('a header that cannot be read: $name', ({ header, problem }) => {
  const [read] = readLedgers([
    { name: 'sluice-run-k3m9', run: 'k3m9', workloads: ['statefulset/web'], data: { header }, version: '7' },
  ])
  expect(read).toEqual({ kind: 'unreadable', run: 'k3m9', problem, workloads: ['statefulset/web'] })
})

test('an entry that needs what this sluice does not know makes its ledger one of a newer sluice', () => {
  const [first, ...others] = stored(ledgerOf(2))
  const [[uid, text]] = Object.entries(first!.data).filter(([key]) => key !== HEADER_KEY) as [[string, string]]
  const entry = JSON.stringify({ ...(JSON.parse(text) as object), state: 'moved', needs: ['moved'] })
  const read = readLedgers([{ ...first!, data: { ...first!.data, [uid]: entry } }, ...others])
  expect(read).toMatchObject([{ kind: 'unreadable', problem: { code: 'record-needs', needs: ['moved'] } }])
})

test('a field that is not known, and not needed, is passed over', () => {
  const [first, ...others] = stored(ledgerOf(1))
  const header = JSON.stringify({ ...(JSON.parse(first!.data[HEADER_KEY]!) as object), note: 'by a newer sluice', needs: [] })
  const read = readLedgers([{ ...first!, data: { ...first!.data, [HEADER_KEY]: header } }, ...others])
  expect(read).toMatchObject([{ kind: 'read' }])
})

test('an entry that cannot be read makes its ledger unreadable, and no other', () => {
  const other = ledgerOf(1)
  const maps = [
    {
      name: 'sluice-run-bad',
      run: 'bad',
      workloads: [],
      data: { header: writeHeader({ ...other.header, run: 'bad' }), 'uid-1': '{"pod":1}' },
      version: '7',
    },
    ...stored(other),
  ]
  expect(readLedgers(maps).map(({ kind }) => kind)).toEqual(['unreadable', 'read'])
})

test('an entry does not repeat the key that it stands under', () => {
  expect(JSON.parse(writeEntry(entryOf(1)))).not.toHaveProperty('uid')
  expect(writeEntry(entryOf(1)).length).toBeLessThan(400)
})

test('an entry that was read is written as it was, so that a run that goes on has nothing to write anew', () => {
  const { owner: { uid, ...owner } = {}, state, ...rest } = entryOf(1)
  const made = { state, ...rest, owner: { uid, ...owner } } as LedgerEntry
  expect(writeEntry(made)).toBe(writeEntry(entryOf(1)))
})

const word = fc.string({ maxLength: 12 })
const images = fc.array(fc.record({ container: word, image: word }), { maxLength: 2 })
const owner = fc.record({ kind: word, name: word, uid: word, apiVersion: word })
const entries = fc.uniqueArray(
  fc.record(
    {
      uid: fc.uuid(),
      pod: word,
      address: word,
      node: word,
      owner,
      targets: fc.array(
        fc.record({
          loadBalancer: word,
          target: word,
          scope: word,
          prior: fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value))),
          untouched: fc.boolean(),
        }),
        { maxLength: 2 },
      ),
      before: fc.record({ images, revision: word }, { requiredKeys: ['images'] }),
      state: fc.constantFrom('open', 'restore', 'closed', 'abandoned'),
    },
    { requiredKeys: ['uid', 'pod', 'targets', 'state'] },
  ),
  { selector: ({ uid }) => uid, maxLength: 4 },
)
const id = { group: word, version: word, kind: word, plural: word, name: word }
const headers = fc.record(
  {
    run: fc.stringMatching(/^[a-z0-9]{1,10}$/),
    workloads: fc.array(
      fc.record(
        { ...id, uid: word, templates: fc.array(fc.record({ of: fc.record(id), images }), { maxLength: 2 }) },
        { requiredKeys: ['group', 'version', 'kind', 'plural', 'name', 'uid'] },
      ),
      {
        maxLength: 2,
      },
    ),
    images,
    undoes: word,
    startedAt: word,
    chunks: fc.constant(1),
    finishedAt: word,
    aborted: fc.record(
      {
        by: word,
        left: fc.array(word.map(said), { maxLength: 2 }),
        mixed: fc.array(fc.record({ workload: word, upgraded: fc.nat(), pods: fc.nat() }), { maxLength: 2 }),
      },
      { requiredKeys: ['by', 'left'] },
    ),
    part: fc.constant(true),
  },
  { requiredKeys: ['run', 'workloads', 'images', 'startedAt', 'chunks'] },
)

test('whatever a ledger holds, it is read as it was written', () => {
  fc.assert(
    fc.property(headers, entries, (header, list) => {
      const ledger = { header, entries: new Map(list.map((entry) => [entry.uid, entry])) } as Ledger
      expect(readLedgers(stored(ledger))).toMatchObject([{ kind: 'read', ledger }])
    }),
  )
})

test('whatever stands in a ConfigMap, it is read or said to be unreadable, and never taken for a ledger without entries', () => {
  const [data] = ledgerChunks(ledgerOf(2)) as [Record<string, string>]
  const keys = Object.keys(data)
  const mutilated = fc.tuple(fc.constantFrom(...keys), fc.nat({ max: 400 }), fc.string({ maxLength: 3 }))
  fc.assert(
    fc.property(mutilated, ([key, at, text]) => {
      const whole = data[key]!
      const place = at % whole.length
      const changed = { ...data, [key]: whole.slice(0, place) + text + whole.slice(place + 1) }
      const [read] = readLedgers([{ name: 'sluice-run-k3m9', run: 'k3m9', workloads: [], data: changed, version: '7' }])
      const told = read?.kind === 'read' ? [...read.ledger.entries.keys()] : read?.run
      const isRead = read?.kind === 'read'
      expect(told).toEqual(isRead ? keys.filter((one) => one !== HEADER_KEY) : 'k3m9')
    }),
    { numRuns: 1_000 },
  )
})
