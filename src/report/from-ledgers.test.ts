import { DAEMON_SET } from '../workloads/kinds/daemon-set.ts'
import { POD } from '../workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { PodAccount, ProcessAccount } from '../journal/account.ts'
import { writeProcessAccount } from '../journal/account.ts'
import { withAccounts } from '../journal/ledger-accounts.ts'
import type { LedgerHeader, ReadLedger } from '../journal/ledger.ts'
import { reportOf, runsOf } from './from-ledgers.ts'

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
  { kind: 'unreadable', run: 'broken', reason: 'v 2' },
  ledger('other', '2026-01-03T00:00:00.000Z', { workloads: [{ ...DAEMON_SET, name: 'web', uid: 'd' }] }),
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
    expect(wanted({ ref: { ...STATEFUL_SET, name: 'web' } })).toBe('new')
    expect(wanted({ ref: { ...DAEMON_SET, name: 'web' } })).toBe('other')
  })

  test('that cannot be read may be newer than the newest of a workload, which is said', () => {
    const told = (one: Parameters<typeof reportOf>[1]['wanted']): string => {
      const answer = reportOf(found, { wanted: one, namespace: 'shop', failures: [] })
      return answer.kind === 'made' ? answer.report.missing.join() : answer.reason
    }
    expect(told({ ref: { ...STATEFUL_SET, name: 'web' } })).toContain('cannot be told: these cannot be read: broken')
    expect(told({ ref: { ...POD, name: 'web-1' } })).toContain('cannot be told: these cannot be read: broken')
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

  describe('with what their ledger has kept', () => {
    const process = { by: 'vm_1', resumed: false, window: 1, guarantees: [], warnings: [], outcome: 'failed', reason: 'web-2' }
    const times = { startedAt: '2026-01-04T00:00:00.000Z', endedAt: '2026-01-04T00:01:00.000Z' }
    const plain = { startedAtMs: Date.parse(times.startedAt), phases: [], effects: [], restarts: [], out: false }
    const target = { loadBalancer: 'edge', target: 'web-1' }
    const call = { ...target, afterMs: 5, effect: 'drain', operation: 'a', outcome: 'applied', batch: 1 } as const
    const drained = { ...plain, effects: [call], outcome: 'failed', reason: 'not ready', out: true }

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
      if (answer.kind === 'none') throw new Error(answer.reason)
      return answer.report
    }

    test('what its undo finds of a pod is not its own', () => {
      const undone = { outcome: 'skipped', reason: 'it runs the wanted images already', run: 'undo' }
      const { pods, missing } = reported([{ outcome: 'unchanged', reason: 'not started' }, undone])
      expect(pods[0]).toMatchObject({ outcome: 'unchanged', reason: 'not started' })
      expect([pods[0]!.missing, missing]).toEqual([undefined, []])
    })

    test('a call of another run, on what this one had drained, is told', () => {
      const restored = { effects: [{ ...call, effect: 'restore', operation: 'b' } as const], outcome: 'settled', run: 'later' }
      const { loadBalancers } = reported([drained, restored])
      expect(loadBalancers[0]).toMatchObject({ drains: { done: 1 }, restores: { done: 1 } })
    })

    // Found by a reader: no call, no time out of rotation, and nothing was missing.
    test('persons who say how it stands, again and again, leave the calls there', () => {
      const said = { outcome: 'resolved', reason: 'a person has said so' }
      const { pods, loadBalancers, missing } = reported([drained, said, said, said])
      expect(loadBalancers[0]!.drains.done).toBe(1)
      expect(pods[0]!.missing).toBe('what one process told of it before is not kept')
      expect(missing).toEqual([
        expect.stringMatching(/^Of web-1 not all that was told is kept: .* No call is missing for that\.$/),
      ])
    })

    test('where there were more that did something with it than are kept, the report names it', () => {
      const { pods, missing } = reported([drained, drained, drained, drained, drained])
      expect(pods[0]!.missing).toBe('what 2 processes did with it before is not kept')
      expect(missing).toEqual([expect.stringMatching(/^Of web-1 not all that was done is kept: .*calls.* are missing\.$/)])
    })

    test('processes without a place, and pods without room, are named', () => {
      expect(reported([drained], { lost: 2, withoutRoom: 3 }).missing).toEqual([
        'Of 2 processes of the run the account is not kept: of one run those of 8 are.',
        `The ledger had no room for all that was told of 3 pods until ${times.endedAt}: phases, calls, restarts and proofs may be missing.`,
      ])
    })
  })

  test('that are not there, or cannot be read, are said to be so', () => {
    expect(wanted({ run: 'nope' })).toBe('nothing is on record of run nope in namespace shop; sluice report lists what is')
    expect(wanted({ ref: { ...POD, name: 'web-1' } })).toContain('a run of pod/web-1')
    expect(wanted({ run: 'broken' })).toBe('the ledger of run broken cannot be read: v 2')
  })
})
