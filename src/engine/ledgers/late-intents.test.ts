import { describe, expect, test } from 'vitest'
import { writeJournal } from '../../journal/journal.ts'
import type { Ledger, LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import type { Journal, ReadJournal, Term } from '../../pods/glossary.ts'
import { rawPod } from '../../pods/testing/raw-pod.ts'
import { JOURNAL_KEY, podView } from '../../pods/view.ts'
import { entryOf } from '../testing/ledgers.ts'
import { asItCounts, createJournalCount, namedByJournals } from './late-intents.ts'

const entry = entryOf('web-0')
const LEASE = 'lease-1'
const journal: Journal = { run: 'r1', epoch: 3, lease: LEASE, attempt: 3, step: 'drain', baseline: [], targets: [] }

interface Given extends Partial<Pick<LedgerHeader, 'finishedAt' | 'run' | 'startedAt'>> {
  entry?: Partial<LedgerEntry>
}

const below = (epoch: number, lease = LEASE): Pick<LedgerEntry, 'voidBelow'> => ({ voidBelow: { lease, epoch } })

function ledger({ run = 'r1', startedAt = '2026-01-02', entry: change, ...header }: Given = {}): Ledger {
  const own: LedgerEntry = { ...entry, ...change }
  return { header: { run, workloads: [], images: [], startedAt, chunks: 1, ...header }, entries: new Map([[entry.uid, own]]) }
}

const stepOf = (stored: ReadJournal): string =>
  stored.kind === 'read' ? `${stored.journal.step} ${stored.journal.attempt}` : stored.kind

const counts = (change: Partial<Journal>, ...ledgers: Ledger[]): string =>
  stepOf(asItCounts(entry.uid, { kind: 'read', journal: { ...journal, ...change } }, ledgers))

test('a drain intent counts as closed where a later owner has found nothing open on its pod', () => {
  expect(counts({}, ledger({ run: 'r0' }), ledger({ entry: below(4) }))).toBe('closed 3')
  expect(counts({}, ledger(), ledger({ run: 'r2', startedAt: '2026-01-03', entry: below(4) }))).toBe('closed 3')
})

test.each([
  ['whose run goes on, and may have drained it', {}, ledger()],
  ['of the owner that had found nothing open', {}, ledger({ entry: below(3) })],
  ['of a run whose record is not there', { run: 'r9' }, ledger({ entry: below(4) })],
  ['that was claimed: it is of an earlier run, and no first one', { origin: 'r0' }, ledger({ entry: below(4) })],
  ['that names no Lease', { lease: undefined }, ledger({ entry: below(4) })],
  [
    'of which a person has said that it is out',
    { targets: [{ ...entry.targets[0]!, said: 'out' as const }] },
    ledger({ entry: below(4) }),
  ],
])('control: one %s counts as it stands', (_, change, known) => {
  expect(counts(change as Partial<Journal>, known)).toBe('drain 3')
})

test('control: one whose run is over, or has told that nothing is drained, counts where no later owner has looked', () => {
  expect(counts({}, ledger({ finishedAt: '2026-01-03', entry: { idle: true } }))).toBe('drain 3')
})

test('control: what a run before has found says nothing of it: somebody may have set the count back', () => {
  expect(counts({}, ledger(), ledger({ run: 'r0', startedAt: '2026-01-01', entry: below(9) }))).toBe('drain 3')
})

test('control: what an owner of another Lease has found says nothing of it', () => {
  const later = { run: 'r2', startedAt: '2026-01-03' }
  expect(counts({}, ledger(), ledger({ ...later, entry: below(9, 'lease-2') }))).toBe('drain 3')
})

test('control: what is further on has had its answer, and counts', () => {
  for (const step of ['patched', 'restore', 'closed'] as const)
    expect(counts({ step, generation: 2 }, ledger({ entry: below(4) }))).toBe(`${step} 3`)
  const none: ReadJournal = { kind: 'none' }
  expect(asItCounts(entry.uid, none, [ledger({ entry: below(4) })])).toBe(none)
})

describe('for who has the Lease', () => {
  const pod = podView(rawPod({ name: 'web-0', uid: entry.uid }))
  const intent: ReadJournal = { kind: 'read', journal }

  function seenBy(term: Term | undefined, seen: ReadJournal, ...ledgers: Ledger[]): (change?: Partial<Journal>) => string {
    const journals = createJournalCount()
    journals.know(ledgers)
    journals.own(() => term, [{ pod, stored: seen }])
    return (change) => stepOf(journals.count(pod, { kind: 'read', journal: { ...journal, ...change } }))
  }

  const none: ReadJournal = { kind: 'none' }
  const term = { lease: LEASE, epoch: 4 }

  test.each<[string, ReadJournal]>([
    ['no journal', none],
    ['a closed one', { kind: 'read', journal: { ...journal, step: 'closed' } }],
  ])('a drain intent of an earlier owner that comes over %s is late', (_, seen) => {
    expect(seenBy(term, seen)()).toBe('closed 3')
  })

  test.each<[string, ReadJournal]>([
    ['the same', intent],
    ['one that cannot be read', { kind: 'unreadable', problem: { code: 'record-not-json' } }],
  ])('control: one that comes over %s counts', (_, seen) => {
    expect(seenBy(term, seen)()).toBe('drain 3')
  })

  test('control: so does one of its own, or of a later owner, or that was claimed, or is further on; and on a pod that was not seen', () => {
    expect(seenBy({ ...term, epoch: 3 }, none)()).toBe('drain 3')
    expect(seenBy({ ...term, epoch: 2 }, none)()).toBe('drain 3')
    expect(seenBy(term, none)({ origin: 'r0' })).toBe('drain 3')
    expect(seenBy(term, none)({ step: 'patched' })).toBe('patched 3')
    const journals = createJournalCount()
    journals.own(() => term, [])
    expect(stepOf(journals.count(pod, intent))).toBe('drain 3')
  })

  test('control: so does one of another Lease, and one on a pod whose Lease it has not', () => {
    expect(seenBy({ ...term, lease: 'lease-2' }, none)()).toBe('drain 3')
    expect(seenBy(undefined, none)()).toBe('drain 3')
  })

  test('what the ledgers say counts too, also before it has the Lease', () => {
    expect(seenBy({ ...term, lease: 'lease-2' }, none, ledger({ entry: below(4) }))()).toBe('closed 3')
    const journals = createJournalCount()
    journals.know([ledger({ entry: below(4) })])
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
