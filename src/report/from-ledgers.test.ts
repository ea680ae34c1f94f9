import type { Reason } from '../reasons/reason.ts'
import { DAEMON_SET } from '../workloads/kinds/daemon-set.ts'
import { POD } from '../workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import { said } from '../cli/testing/samples.ts'
import type { PodAccount, ProcessAccount } from '../journal/account.ts'
import { writeProcessAccount } from '../journal/account.ts'
import { withAccounts } from '../journal/ledger-accounts.ts'
import type { LedgerHeader, ReadLedger } from '../journal/ledger.ts'
import { reportOf, runsOf } from './from-ledgers.ts'
import { reasonWords } from './words/words.ts'

function ledger(run: string, startedAt: string, fields: Partial<LedgerHeader> = {}): ReadLedger {
  const header: LedgerHeader = {
    run,
    workloads: [{ ...STATEFUL_SET, name: 'web', uid: 'w' }],
    images: [{ container: 'app', image: 'app:v2' }],
    startedAt,
    chunks: 1,
    ...fields,
  }
  return { kind: 'read', ledger: { header, entries: new Map() }, places: { chunkOf: new Map(), parts: [] } }
}

const found: ReadLedger[] = [
  ledger('old', '2026-01-01T00:00:00.000Z', { finishedAt: '2026-01-01T00:01:00.000Z' }),
  { kind: 'unreadable', run: 'broken', problem: { code: 'record-not-json' }, workloads: [] },
  ledger('other', '2026-01-03T00:00:00.000Z', { workloads: [{ ...DAEMON_SET, name: 'web', uid: 'd' }] }),
  ledger('new', '2026-01-02T00:00:00.000Z', { undoes: 'old' }),
]

function wanted(one: Parameters<typeof reportOf>[1]['wanted']) {
  const answer = reportOf(found, { wanted: one, namespace: 'shop', failures: [] })
  return answer.kind === 'made' ? answer.report.run : reasonWords(answer.reason)
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
    expect(wanted({ ref: { ...STATEFUL_SET, name: 'web' } })).toBe('new')
    expect(wanted({ ref: { ...DAEMON_SET, name: 'web' } })).toBe('other')
  })

  test('that cannot be read may be newer than the newest of a workload, which is said', () => {
    const told = (one: Parameters<typeof reportOf>[1]['wanted']): string => {
      const answer = reportOf(found, { wanted: one, namespace: 'shop', failures: [] })
      return answer.kind === 'made'
        ? answer.report.missing.map((reason) => reasonWords(reason)).join()
        : reasonWords(answer.reason)
    }
    expect(told({ ref: { ...STATEFUL_SET, name: 'web' } })).toContain('cannot be told: these cannot be read: broken')
    expect(told({ ref: { ...POD, name: 'web-1' } })).toContain('These cannot be read, and may be of it: broken')
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
      reason: said('stopped'),
      window: 1,
      guarantees: [],
      warnings: [],
    })
    const missing = (fields: Partial<LedgerHeader>): readonly Reason[] => {
      const ledgers = [ledger('r1', '2026-01-04T00:00:00.000Z', { accounts: [account], ...fields })]
      const answer = reportOf(ledgers, { wanted: { run: 'r1' }, namespace: 'shop', failures: [] })
      return answer.kind === 'made' ? answer.report.missing : []
    }
    expect(missing({})).toEqual([{ code: 'not-finished', after: '2026-01-04T00:01:00.000Z' }])
    expect(missing({ finishedAt: '2026-01-04T00:01:00.000Z' })).toEqual([])
  })

  test('are listed with what all of their processes have done, as the report of each has it', () => {
    const base = { by: 'vm_1', resumed: true, window: 1, guarantees: [], warnings: [] }
    const times = { startedAt: '2026-01-04T00:00:00.000Z', endedAt: '2026-01-04T00:01:00.000Z' }
    const processes = [
      { ...base, ...times, epoch: 1, outcome: 'interrupted', reason: said('stopped') },
      { ...base, ...times, epoch: 2, outcome: 'done', reason: { code: 'counts', upgraded: 0, already: 1, left: 0 } as const },
    ]
    const one = ledger('r1', '2026-01-04T00:00:00.000Z', { accounts: processes.map(writeProcessAccount) })
    if (one.kind !== 'read') throw new Error('made so')
    const { entries, header } = one.ledger
    entries.set('u1', { uid: 'u1', pod: 'web-1', targets: [], state: 'open' })
    ;['upgraded', 'skipped'].forEach((outcome, index) => {
      const account = { epoch: index + 1, startedAtMs: 0, phases: [], effects: [], restarts: [], outcome, out: false }
      for (const entry of withAccounts({ header, entries }, new Map([['u1', account]]))) entries.set('u1', entry)
    })
    expect(runsOf([one])[0]).toMatchObject({ outcome: 'done', reason: { code: 'counts', upgraded: 1, already: 0, left: 0 } })
  })

  describe('with what their ledger has kept', () => {
    const process = {
      by: 'vm_1',
      resumed: false,
      window: 1,
      guarantees: [],
      warnings: [],
      outcome: 'failed',
      reason: said('web-2'),
    }
    const times = { startedAt: '2026-01-04T00:00:00.000Z', endedAt: '2026-01-04T00:01:00.000Z' }
    const plain = { startedAtMs: Date.parse(times.startedAt), phases: [], effects: [], restarts: [], out: false }
    const target = { loadBalancer: 'edge', target: 'web-1' }
    const call = { ...target, afterMs: 5, effect: 'drain', operation: 'a', outcome: 'applied', batch: 1, durationMs: 7 } as const
    const drained = { ...plain, effects: [call], outcome: 'failed', reason: said('not ready'), out: true }

    function reported(told: Partial<PodAccount>[], change: Partial<ProcessAccount> = {}) {
      const accounts = [writeProcessAccount({ ...process, ...times, epoch: 1, ...change })]
      const one = ledger('bad', times.startedAt, { accounts, finishedAt: times.endedAt })
      if (one.kind !== 'read') throw new Error('made so')
      const { entries, header } = one.ledger
      const before = { images: [{ container: 'app', image: 'app:v1' }] }
      const targets = [{ ...target, scope: 'web', prior: 'ready', untouched: false }]
      entries.set('u1', { uid: 'u1', pod: 'web-1', targets, state: 'open', before })
      told.forEach((account, index) => {
        const all = new Map([['u1', { ...plain, epoch: index + 1, ...account }]])
        for (const entry of withAccounts({ header, entries }, all)) entries.set('u1', entry)
      })
      const answer = reportOf([one], { wanted: { run: 'bad' }, namespace: 'shop', failures: [] })
      if (answer.kind === 'none') throw new Error(reasonWords(answer.reason))
      return answer.report
    }

    test('what its undo finds of a pod is not its own', () => {
      const undone = { outcome: 'skipped', reason: { code: 'runs-wanted-images', ready: true } as const, run: 'undo' }
      const { pods, missing } = reported([{ outcome: 'unchanged', reason: { code: 'not-started' } }, undone])
      expect(pods[0]).toMatchObject({ outcome: 'unchanged', reason: { code: 'not-started' } })
      expect([pods[0]!.missing, missing]).toEqual([undefined, []])
    })

    test('a call of another run, on what this one had drained, is told', () => {
      const restored = { effects: [{ ...call, effect: 'restore', operation: 'b' } as const], outcome: 'settled', run: 'later' }
      const { loadBalancers } = reported([drained, restored])
      expect(loadBalancers[0]).toMatchObject({ drains: { done: 1 }, restores: { done: 1 } })
    })

    test('persons who say how it stands, again and again, leave the calls there', () => {
      const word = { outcome: 'resolved', reason: said('a person has said so') }
      const { pods, loadBalancers, missing } = reported([drained, word, word, word])
      expect(loadBalancers[0]!.drains.done).toBe(1)
      expect(pods[0]!.missing).toEqual({ code: 'earlier-not-kept', what: 'told', processes: 1 })
      expect(missing).toEqual([{ code: 'told-not-kept', what: 'told', pods: ['web-1'], kept: 2 }])
    })

    test('where there were more that did something with it than are kept, the report names it', () => {
      const { pods, missing } = reported([drained, drained, drained, drained, drained])
      expect(pods[0]!.missing).toEqual({ code: 'earlier-not-kept', what: 'done', processes: 2 })
      expect(missing).toEqual([{ code: 'told-not-kept', what: 'done', pods: ['web-1'], kept: 3 }])
    })

    test('processes without a place, and pods without room, are named', () => {
      expect(reported([drained], { lost: 2, withoutRoom: 3 }).missing).toEqual([
        { code: 'processes-not-kept', processes: 2, kept: 8 },
        { code: 'no-room-for-accounts', pods: 3, until: times.endedAt },
      ])
    })
  })

  test('that are not there, or cannot be read, are said to be so', () => {
    expect(wanted({ run: 'nope' })).toBe('nothing is on record of run nope in namespace shop; sluice report lists what is')
    expect(wanted({ ref: { ...POD, name: 'web-1' } })).toContain('a run of pod/web-1')
    expect(wanted({ run: 'broken' })).toBe('the ledger of run broken cannot be read: it is not JSON')
  })
})
