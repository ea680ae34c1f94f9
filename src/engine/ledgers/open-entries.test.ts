import { expect, test } from 'vitest'
import type { Ledger, LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import type { Journal, JournalTarget } from '../../pods/glossary.ts'
import { isSettled, openEntries } from './open-entries.ts'
import { entryOf } from '../testing/ledgers.ts'

function ledger(startedAt: string, pods: string[], header: Partial<LedgerHeader> = {}): Ledger {
  const entries = new Map(pods.map((pod) => [`uid of ${pod}`, entryOf(pod)]))
  return { header: { run: startedAt, workloads: [], images: [], startedAt, chunks: 1, ...header }, entries }
}

const open = (one: Ledger, others: Ledger[]): string[] => openEntries(one, [one, ...others]).map(({ pod }) => pod)

test('a pod that a later run has brought home is not open any more in one that stays open for another pod', () => {
  const first = ledger('1', ['web-0', 'api-0'])
  expect(open(first, [ledger('2', ['web-0'], { finishedAt: '3' })])).toEqual(['api-0'])
})

test('control: that run is not finished, or came before', () => {
  const first = ledger('1', ['web-0', 'api-0'])
  expect(open(first, [ledger('2', ['web-0'])])).toEqual(['web-0', 'api-0'])
  expect(open(first, [ledger('0', ['web-0'], { finishedAt: '3' })])).toEqual(['web-0', 'api-0'])
})

test('nor one of which a later run has said at its end that nothing is drained for it, until it begins with it', () => {
  const idle = entryOf('web-0', { idle: true })
  const later = (entry: LedgerEntry): Ledger => ({ ...ledger('2', []), entries: new Map([[entry.uid, entry]]) })
  const first = ledger('1', ['web-0', 'api-0'])
  expect([open(first, [later(idle)]), open(later(idle), [first])]).toEqual([['api-0'], []])
  const { idle: _, ...begun } = idle
  expect([open(first, [later(begun)]), open(later(begun), [first])]).toEqual([['web-0', 'api-0'], ['web-0']])
})

test('settled is what the run that has drained it has settled, or one that came after', () => {
  const closed = entryOf('web-0', { state: 'closed' })
  const settled = (startedAt: string): Ledger => ({ ...ledger(startedAt, []), entries: new Map([[closed.uid, closed]]) })
  const journal: Journal = { run: '2', epoch: 1, attempt: 1, step: 'drain', baseline: [], targets: closed.targets }
  const isIt = (record: Journal, ...all: Ledger[]): boolean =>
    isSettled({ pod: { uid: closed.uid }, stored: { kind: 'read', journal: record } }, all)
  expect(isIt(journal, settled('2'))).toBe(true)
  expect(isIt(journal, ledger('2', ['web-0']), settled('3'))).toBe(true)
  expect(isIt({ ...journal, run: '3', origin: '2' }, settled('2'), ledger('3', ['web-0'])), 'it is gone on with').toBe(true)
  expect(isIt(journal, settled('1'), ledger('2', ['web-0'])), 'an earlier drain').toBe(false)
  expect(isIt({ ...journal, run: '3', origin: '2' }, settled('1'), ledger('2', []), ledger('3', []))).toBe(false)
  expect(isIt(journal, settled('1')), 'nobody knows when it began').toBe(false)
  expect(isIt({ ...journal, step: 'closed' }, settled('2')), 'control: nothing is open').toBe(false)
})

test('nor one whose targets another has had since, in the middle of the same run', () => {
  const [edge] = entryOf('web-0').targets
  const inner = { ...edge!, loadBalancer: 'inner' }
  const byOperator = { ...inner, untouched: true }
  const openOf = (first: JournalTarget[], second: JournalTarget[]): string[] => {
    const both = [entryOf('web-0', { targets: first }), entryOf('web-0b', { targets: second, order: 1, state: 'closed' })]
    return open({ ...ledger('1', []), entries: new Map(both.map((one) => [one.uid, one])) }, [])
  }
  expect(openOf([edge!], [edge!])).toEqual([])
  expect(openOf([edge!, byOperator], [edge!, byOperator]), 'an operator has one of two').toEqual([])
  expect(openOf([edge!, inner], [edge!, byOperator]), 'control: not all of them').toEqual(['web-0'])
  expect(openOf([byOperator], [edge!, inner]), 'control: nothing was drained for it').toEqual(['web-0'])
})
