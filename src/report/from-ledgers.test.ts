import { describe, expect, test } from 'vitest'
import { writeProcessAccount } from '../journal/account.ts'
import { withAccounts } from '../journal/ledger-accounts.ts'
import type { LedgerHeader, ReadLedger } from '../journal/ledger.ts'
import { reportOf, runsOf } from './from-ledgers.ts'

function ledger(run: string, startedAt: string, fields: Partial<LedgerHeader> = {}): ReadLedger {
  const header: LedgerHeader = {
    run,
    workloads: [{ kind: 'StatefulSet', name: 'web', uid: 'w' }],
    images: [{ container: 'app', image: 'app:v2' }],
    startedAt,
    chunks: 1,
    ...fields,
  }
  return { kind: 'read', ledger: { header, entries: new Map() }, places: { chunkOf: new Map(), parts: [] } }
}

const found: ReadLedger[] = [
  ledger('old', '2026-01-01T00:00:00.000Z', { finishedAt: '2026-01-01T00:01:00.000Z' }),
  { kind: 'unreadable', run: 'broken', reason: 'v 2' },
  ledger('other', '2026-01-03T00:00:00.000Z', { workloads: [{ kind: 'DaemonSet', name: 'web', uid: 'd' }] }),
  ledger('new', '2026-01-02T00:00:00.000Z', { undoes: 'old' }),
]

function wanted(one: Parameters<typeof reportOf>[1]['wanted']) {
  const answer = reportOf(found, { wanted: one, namespace: 'shop', failures: [] })
  return answer.kind === 'made' ? answer.report.run : answer.reason
}

describe('runs on record', () => {
  test('are listed with the newest first', () => {
    expect(runsOf(found).map(({ run, outcome }) => [run, outcome])).toEqual([
      ['other', 'open'],
      ['new', 'open'],
      ['old', 'closed'],
      ['broken', 'unreadable'],
    ])
  })

  test('are found by id, and by workload the newest of it', () => {
    expect(wanted({ run: 'old' })).toBe('old')
    expect(wanted({ ref: { kind: 'StatefulSet', name: 'web' } })).toBe('new')
    expect(wanted({ ref: { kind: 'DaemonSet', name: 'web' } })).toBe('other')
  })

  test('that cannot be read may be newer than the newest of a workload, which is said', () => {
    const told = (one: Parameters<typeof reportOf>[1]['wanted']): string => {
      const answer = reportOf(found, { wanted: one, namespace: 'shop', failures: [] })
      return answer.kind === 'made' ? answer.report.missing.join() : answer.reason
    }
    expect(told({ ref: { kind: 'StatefulSet', name: 'web' } })).toContain('cannot be told: these cannot be read: broken')
    expect(told({ ref: { kind: 'Pod', name: 'web-1' } })).toContain('cannot be told: these cannot be read: broken')
    expect(told({ run: 'old' })).not.toContain('broken')
  })

  test('that are not finished do not claim to know what a process that was killed has done since', () => {
    const account = writeProcessAccount({
      by: 'vm_1',
      epoch: 1,
      resumed: false,
      startedAt: '2026-01-04T00:00:00.000Z',
      endedAt: '2026-01-04T00:01:00.000Z',
      outcome: 'interrupted',
      reason: 'stopped',
      window: 1,
      guarantees: [],
      warnings: [],
    })
    const missing = (fields: Partial<LedgerHeader>): readonly string[] => {
      const ledgers = [ledger('r1', '2026-01-04T00:00:00.000Z', { accounts: [account], ...fields })]
      const answer = reportOf(ledgers, { wanted: { run: 'r1' }, namespace: 'shop', failures: [] })
      return answer.kind === 'made' ? answer.report.missing : []
    }
    expect(missing({})).toEqual([expect.stringContaining('after 2026-01-04T00:01:00.000Z')])
    expect(missing({ finishedAt: '2026-01-04T00:01:00.000Z' })).toEqual([])
  })

  test('are listed with what all of their processes have done, as the report of each has it', () => {
    const base = { by: 'vm_1', resumed: true, window: 1, guarantees: [], warnings: [] }
    const times = { startedAt: '2026-01-04T00:00:00.000Z', endedAt: '2026-01-04T00:01:00.000Z' }
    const processes = [
      { ...base, ...times, epoch: 1, outcome: 'interrupted', reason: 'stopped' },
      { ...base, ...times, epoch: 2, outcome: 'done', reason: '0 upgraded, 1 at the wanted images already' },
    ]
    const one = ledger('r1', '2026-01-04T00:00:00.000Z', { accounts: processes.map(writeProcessAccount) })
    if (one.kind !== 'read') throw new Error('made so')
    const { entries, header } = one.ledger
    entries.set('u1', { uid: 'u1', pod: 'web-1', targets: [], state: 'open' })
    ;['upgraded', 'skipped'].forEach((outcome, index) => {
      const account = { epoch: index + 1, startedAtMs: 0, phases: [], effects: [], restarts: [], outcome, out: false }
      for (const entry of withAccounts({ header, entries }, new Map([['u1', account]]))) entries.set('u1', entry)
    })
    expect(runsOf([one])[0]).toMatchObject({ outcome: 'done', reason: '1 upgraded, 0 at the wanted images already' })
  })

  test('that are not there, or cannot be read, are said to be so', () => {
    expect(wanted({ run: 'nope' })).toBe('nothing is on record of run nope in namespace shop; sluice report lists what is')
    expect(wanted({ ref: { kind: 'Pod', name: 'web-1' } })).toContain('a run of pod/web-1')
    expect(wanted({ run: 'broken' })).toBe('the ledger of run broken cannot be read: v 2')
  })
})
