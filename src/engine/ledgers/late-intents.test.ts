import { expect, test } from 'vitest'
import { writeJournal } from '../../journal/journal.ts'
import type { Ledger } from '../../journal/ledger.ts'
import type { Journal, ReadJournal } from '../../pods/glossary.ts'
import { rawPod } from '../../pods/testing/raw-pod.ts'
import { JOURNAL_KEY, podView } from '../../pods/view.ts'
import { entryOf } from '../testing/ledgers.ts'
import { asItCounts, namedByJournals } from './late-intents.ts'

const entry = entryOf('web-0')
const journal: Journal = { run: 'r1', epoch: 1, attempt: 3, step: 'drain', baseline: [], targets: [] }

function ledger(change: { idle?: true; finishedAt?: string; run?: string } = {}): Ledger {
  const { idle, run = 'r1', ...header } = change
  return {
    header: { run, workloads: [], images: [], startedAt: '2026-01-01', chunks: 1, ...header },
    entries: new Map([[entry.uid, { ...entry, ...(idle ? { idle } : {}) }]]),
  }
}

const counts = (change: Partial<Journal>, ...ledgers: Ledger[]): string => {
  const stored = asItCounts(entry.uid, { kind: 'read', journal: { ...journal, ...change } }, ledgers)
  return stored.kind === 'read' ? `${stored.journal.step} ${stored.journal.attempt}` : stored.kind
}

test('a drain intent counts as closed where its run is over, or has told that nothing is drained for its pod', () => {
  expect(counts({}, ledger({ run: 'r0' }), ledger({ finishedAt: '2026-01-02' }))).toBe('closed 3')
  expect(counts({}, ledger({ idle: true }))).toBe('closed 3')
})

test.each([
  ['whose run goes on, and may have drained it', {}, ledger()],
  ['of a run whose record is not there', { run: 'r9' }, ledger({ finishedAt: '2026-01-02' })],
  ['that was claimed: it is of an earlier run, and no first one', { origin: 'r0' }, ledger({ finishedAt: '2026-01-02' })],
])('control: one %s counts as it stands', (_, change, known) => {
  expect(counts(change, known)).toBe('drain 3')
})

test('control: what is further on has had its answer, and counts', () => {
  for (const step of ['patched', 'restore', 'closed'] as const)
    expect(counts({ step, generation: 2 }, ledger({ finishedAt: '2026-01-02', idle: true }))).toBe(`${step} 3`)
  const none: ReadJournal = { kind: 'none' }
  expect(asItCounts(entry.uid, none, [ledger({ finishedAt: '2026-01-02' })])).toBe(none)
})

test('the runs that open journals name, late or not', () => {
  const pods = [journal, { ...journal, run: 'r2', step: 'closed' as const }, { ...journal, run: 'r3' }].map((one, index) => {
    const uid = `uid-${index}`
    return { pod: podView(rawPod({ name: `web-${index}`, uid, annotations: { [JOURNAL_KEY]: writeJournal(one, uid) } })) }
  })
  expect([...namedByJournals(pods)]).toEqual(['r1', 'r3'])
})
