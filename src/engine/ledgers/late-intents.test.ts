import { describe, expect, test } from 'vitest'
import { writeJournal } from '../../journal/journal.ts'
import type { Ledger, LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import type { Journal, ReadJournal } from '../../pods/glossary.ts'
import { rawPod } from '../../pods/testing/raw-pod.ts'
import { JOURNAL_KEY, podView } from '../../pods/view.ts'
import { entryOf } from '../testing/ledgers.ts'
import { asItCounts, createJournalCount, namedByJournals } from './late-intents.ts'

const entry = entryOf('web-0')
const journal: Journal = { run: 'r1', epoch: 3, attempt: 3, step: 'drain', baseline: [], targets: [] }

const OTHER = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'other', uid: 'other' }
const OWNER = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'web' }

interface Given extends Partial<Pick<LedgerHeader, 'finishedAt' | 'run' | 'startedAt'>> {
  entry?: Partial<LedgerEntry>
}

function ledger({ run = 'r1', startedAt = '2026-01-02', entry: change, ...header }: Given = {}): Ledger {
  const own: LedgerEntry = { ...entry, owner: OWNER, ...change }
  return { header: { run, workloads: [], images: [], startedAt, chunks: 1, ...header }, entries: new Map([[entry.uid, own]]) }
}

const stepOf = (stored: ReadJournal): string =>
  stored.kind === 'read' ? `${stored.journal.step} ${stored.journal.attempt}` : stored.kind

const counts = (change: Partial<Journal>, ...ledgers: Ledger[]): string =>
  stepOf(asItCounts(entry.uid, { kind: 'read', journal: { ...journal, ...change } }, ledgers))

test('a drain intent counts as closed where its run is over, or a later owner has found nothing open on its pod', () => {
  expect(counts({}, ledger({ run: 'r0' }), ledger({ finishedAt: '2026-01-03' }))).toBe('closed 3')
  expect(counts({}, ledger({ entry: { idle: true } }))).toBe('closed 3')
  expect(counts({}, ledger({ entry: { voidBelow: 4 } }))).toBe('closed 3')
  expect(counts({}, ledger(), ledger({ run: 'r2', startedAt: '2026-01-03', entry: { voidBelow: 4 } }))).toBe('closed 3')
})

test.each([
  ['whose run goes on, and may have drained it', {}, ledger()],
  ['of the owner that had found nothing open', {}, ledger({ entry: { voidBelow: 3 } })],
  ['of a run whose record is not there', { run: 'r9' }, ledger({ finishedAt: '2026-01-03', entry: { voidBelow: 4 } })],
  [
    'that was claimed: it is of an earlier run, and no first one',
    { origin: 'r0' },
    ledger({ finishedAt: '2026-01-03', entry: { voidBelow: 4 } }),
  ],
  [
    'of which a person has said that it is out',
    { targets: [{ ...entry.targets[0]!, said: 'out' as const }] },
    ledger({ finishedAt: '2026-01-03', entry: { voidBelow: 4 } }),
  ],
])('control: one %s counts as it stands', (_, change, known) => {
  expect(counts(change, known)).toBe('drain 3')
})

// With a Lease that somebody has deleted goes its count.
test('control: what a run before has found says nothing of it', () => {
  expect(counts({}, ledger(), ledger({ run: 'r0', startedAt: '2026-01-01', entry: { voidBelow: 9 } }))).toBe('drain 3')
})

// Found by a reviewer: a pod was nobody's for a while, with a Lease of its own, by whose count the drain of its workload was void.
test('control: what a run has found that knew it as of another owner, or did not know it, says nothing of it', () => {
  const later = { run: 'r2', startedAt: '2026-01-03' }
  expect(counts({}, ledger(), ledger({ ...later, entry: { voidBelow: 9, owner: OTHER } }))).toBe('drain 3')
  const unknown = { ...ledger(), entries: new Map() }
  expect(counts({}, unknown, ledger({ ...later, entry: { voidBelow: 9 } }))).toBe('drain 3')
})

test('control: what is further on has had its answer, and counts', () => {
  for (const step of ['patched', 'restore', 'closed'] as const)
    expect(counts({ step, generation: 2 }, ledger({ finishedAt: '2026-01-03', entry: { voidBelow: 4 } }))).toBe(`${step} 3`)
  const none: ReadJournal = { kind: 'none' }
  expect(asItCounts(entry.uid, none, [ledger({ finishedAt: '2026-01-03' })])).toBe(none)
})

describe('for who has the Lease', () => {
  const pod = { ...podView(rawPod({ name: 'web-0', uid: entry.uid })), owner: OWNER }
  const intent: ReadJournal = { kind: 'read', journal }

  function seenBy(epoch: number, seen: ReadJournal, ...ledgers: Ledger[]): (stored: ReadJournal) => string {
    const journals = createJournalCount()
    journals.know(ledgers)
    journals.own(() => epoch, [{ pod, stored: seen }])
    return (stored) => stepOf(journals.count(pod, stored))
  }

  test.each<[string, ReadJournal]>([
    ['no journal', { kind: 'none' }],
    ['a closed one', { kind: 'read', journal: { ...journal, step: 'closed' } }],
  ])('a drain intent of an earlier owner that comes over %s is late', (_, seen) => {
    expect(seenBy(4, seen, ledger())(intent)).toBe('closed 3')
  })

  test.each<[string, ReadJournal]>([
    ['the same', intent],
    ['one that cannot be read', { kind: 'unreadable', reason: 'it is not JSON' }],
  ])('control: one that comes over %s counts', (_, seen) => {
    expect(seenBy(4, seen, ledger())(intent)).toBe('drain 3')
  })

  test('control: so does one of its own, or of a later owner, or that was claimed, or is further on; and on a pod that was not seen', () => {
    const none: ReadJournal = { kind: 'none' }
    expect(seenBy(3, none, ledger())(intent)).toBe('drain 3')
    expect(seenBy(2, none, ledger())(intent)).toBe('drain 3')
    expect(seenBy(4, none, ledger())({ kind: 'read', journal: { ...journal, origin: 'r0' } })).toBe('drain 3')
    expect(seenBy(4, none, ledger())({ kind: 'read', journal: { ...journal, step: 'patched' } })).toBe('patched 3')
    const journals = createJournalCount()
    journals.know([ledger()])
    journals.own(() => 4, [])
    expect(stepOf(journals.count(pod, intent))).toBe('drain 3')
  })

  // Found by a reviewer: it was released from its workload, drained by a run of its own, and taken in again, and stayed out.
  test('control: so does that of a run that knew it as of another owner, or that has begun since', () => {
    const none: ReadJournal = { kind: 'none' }
    expect(seenBy(4, none, ledger({ entry: { owner: OTHER } }))(intent)).toBe('drain 3')
    expect(seenBy(4, none, ledger({ run: 'r0' }))(intent)).toBe('drain 3')
  })

  test('its own counts whatever the ledgers say; before it has the Lease these count for all', () => {
    expect(seenBy(3, intent, ledger({ entry: { voidBelow: 9 } }))(intent)).toBe('drain 3')
    const journals = createJournalCount()
    journals.know([ledger({ entry: { voidBelow: 9 } })])
    expect(stepOf(journals.count(pod, intent))).toBe('closed 3')
  })
})

test('the runs that open journals name, late or not', () => {
  const pods = [journal, { ...journal, run: 'r2', step: 'closed' as const }, { ...journal, run: 'r3' }].map((one, index) => {
    const uid = `uid-${index}`
    return { pod: podView(rawPod({ name: `web-${index}`, uid, annotations: { [JOURNAL_KEY]: writeJournal(one, uid) } })) }
  })
  expect([...namedByJournals(pods)]).toEqual(['r1', 'r3'])
})
