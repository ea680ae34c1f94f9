import { describe, expect, test } from 'vitest'
import { at as eventAt } from '../cli/testing/samples.ts'
import type { RunEventBody } from '../engine/events.ts'
import { withAccounts } from '../journal/ledger-accounts.ts'
import { writeProcessAccount } from '../journal/account.ts'
import type { Ledger, LedgerHeader } from '../journal/ledger.ts'
import { chunkName, ledgerChunks, readLedgers } from '../journal/ledger.ts'
import { createAccount } from '../engine/account.ts'
import { buildReport } from './build-report.ts'
import { createRecorder } from './recorder.ts'
import { recordOfLedger } from './run-record.ts'
import { at, sampleRecord } from './testing/sample-record.ts'

const prior = { state: 'ready', weight: 100 }
const target = { loadBalancer: 'edge', target: 'web/web-1@10.0.0.1:80' }
const pod = { uid: 'u1', pod: 'web-1' }

function call(effect: 'drain' | 'restore', outcome: 'applied' | 'ambiguous' | 'confirmed' | 'failed' = 'applied'): RunEventBody {
  return { type: 'effect', ...pod, ...target, effect, operation: `op-${effect}`, outcome, batch: 1 }
}

function state(to: Extract<RunEventBody, { type: 'podState' }>['to'], reason = ''): RunEventBody {
  return { type: 'podState', ...pod, from: null, to, reason }
}

/** The events of one pod that goes the straight way, with so many milliseconds between them. */
function straight(...between: RunEventBody[]) {
  const restarts = [
    { container: 'app', image: { from: 'app:v1', to: 'app:v2' }, containerId: { from: 'aa', to: 'bb' }, imageId: {} },
  ]
  const bodies: RunEventBody[] = [
    {
      type: 'planned',
      plan: {
        namespace: 'shop',
        workloads: [{ kind: 'StatefulSet', name: 'web', namespace: 'shop' }],
        images: [{ container: 'app', image: 'app:v2' }],
        templates: [],
        pods: [
          {
            uid: 'u1',
            name: 'web-1',
            action: 'upgrade',
            reason: '',
            images: [{ container: 'app', from: 'app:v1', to: 'app:v2' }],
            targets: [{ ...target, inRotation: true }],
          },
        ],
        window: 2,
        guarantees: [{ loadBalancer: 'edge', adapter: 'haproxy', level: 'G1', meaning: 'once' }],
        warnings: [],
        refusals: [],
      },
    },
    { type: 'started', run: 'r1', epoch: 4, resumed: false, pods: [pod] },
    state('queued'),
    state('draining'),
    call('drain'),
    state('emptying', '2 in flight'),
    { type: 'podDetail', ...pod, state: 'emptying', detail: '0 in flight' },
    state('patching'),
    state('restarting'),
    state('warming'),
    state('restoring'),
    ...between,
    call('restore'),
    state('verifying'),
    state('closing'),
    state('done'),
    {
      type: 'podFinished',
      result: {
        ...pod,
        outcome: 'upgraded',
        reason: '',
        out: false,
        phases: {},
        proof: 'witness',
        restarts,
        targets: [{ ...target, prior }],
      },
    },
  ]
  return bodies.map((body, index) => eventAt(index * 10, body))
}

const result = { outcome: 'done', reason: '1 upgraded' } as const

function heard(...between: RunEventBody[]) {
  const recorder = createRecorder()
  for (const event of straight(...between)) recorder.onEvent(event)
  return recorder.record({ by: 'ci_1', at: new Date(Date.parse('2026-03-01T12:01:00Z')), result })
}

/** The same run as its ledger has it, after it was written and read. */
function kept(...between: RunEventBody[]) {
  return keptAs([{ container: 'app', image: 'app:v2' }], between)
}

function keptAs(images: LedgerHeader['images'], between: readonly RunEventBody[] = []) {
  const account = createAccount()
  for (const event of straight(...between)) account.note(event)
  const endedAt = '2026-03-01T12:01:00.000Z'
  const ledger: Ledger = {
    header: {
      run: 'r1',
      workloads: [{ kind: 'StatefulSet', name: 'web', uid: 'w' }],
      images,
      startedAt: '2026-03-01T12:00:00.000Z',
      chunks: 1,
      finishedAt: endedAt,
      accounts: [writeProcessAccount(account.process({ by: 'ci_1', endedAt, ...result }))],
    },
    entries: new Map([
      [
        'u1',
        {
          ...pod,
          targets: [{ ...target, scope: 'web', prior, untouched: false }],
          before: { images: [{ container: 'app', image: 'app:v1' }] },
          state: 'open',
        },
      ],
    ]),
  }
  for (const entry of withAccounts(ledger, account.pods(1000))) ledger.entries.set(entry.uid, entry)
  const [read] = readLedgers(ledgerChunks(ledger).map((data, chunk) => ({ name: chunkName('r1', chunk), data })))
  if (read?.kind !== 'read') throw new Error('the ledger cannot be read')
  return recordOfLedger(read.ledger, 'shop')
}

describe('the report of a run', () => {
  test('is the same whether it was heard or read from the ledger', () => {
    expect(buildReport(kept())).toEqual(buildReport(heard()))
  })

  test('takes the images of a pod from its restart, where the pods of the run went to different ones', () => {
    const images = ['api:v9', 'app:v2'].map((image) => ({ container: 'app', image }))
    expect(buildReport(keptAs(images)).pods[0]).toMatchObject({ images: [{ container: 'app', from: 'app:v1', to: 'app:v2' }] })
  })

  test('has every phase, call, image and proof', () => {
    const report = buildReport(heard())
    expect(report).toMatchObject({
      run: 'r1',
      workloads: ['statefulset/web'],
      outcome: 'done',
      window: 2,
      processes: [{ by: 'ci_1', epoch: 4 }],
      loadBalancers: [{ name: 'edge', adapter: 'haproxy', guarantee: 'G1', drains: { done: 1 }, restores: { done: 1 } }],
      missing: [],
    })
    const [only] = report.pods
    expect(only).toMatchObject({
      outcome: 'upgraded',
      proof: 'witness',
      images: [{ container: 'app', from: 'app:v1', to: 'app:v2' }],
      restarts: [{ container: 'app', containerId: { from: 'aa', to: 'bb' } }],
    })
    expect(only!.phases.map(({ state: name }) => name)).toEqual([
      'queued',
      'draining',
      'emptying',
      'patching',
      'restarting',
      'warming',
      'restoring',
      'verifying',
      'closing',
    ])
    // One begins where the other ends.
    only!.phases.slice(1).forEach((phase, index) => expect(phase.fromAt).toBe(only!.phases[index]!.toAt))
    expect(only!.phases[2]).toEqual({
      state: 'emptying',
      fromAt: '2026-03-01T12:00:00.050Z',
      toAt: '2026-03-01T12:00:00.070Z',
      detail: '0 in flight',
    })
    expect(only!.effects).toMatchObject([
      { effect: 'drain', outcome: 'done', at: '2026-03-01T12:00:00.040Z', evidence: 'read back as out, 0 in flight' },
      { effect: 'restore', outcome: 'done', evidence: 'read back as it was before: {"state":"ready","weight":100}' },
    ])
  })

  test('a call that was made again after a lost answer is told so, in both', () => {
    for (const record of [heard(call('restore', 'ambiguous')), kept(call('restore', 'ambiguous'))]) {
      const { pods, loadBalancers } = buildReport(record)
      expect(pods[0]!.effects.map(({ outcome, repeated }) => ({ outcome, repeated }))).toEqual([
        { outcome: 'done', repeated: false },
        { outcome: 'ambiguous', repeated: false },
        { outcome: 'done', repeated: true },
      ])
      expect(loadBalancers[0]!.restores).toMatchObject({ done: 1, ambiguous: 1, repeated: 1 })
    }
  })

  test('of what cannot be read back nothing is said to have been', () => {
    const record = heard()
    record.processes[0]!.guarantees[0]!.level = 'G0'
    expect(buildReport(record).pods[0]!.effects.map(({ evidence }) => evidence)).toEqual(
      Array.from({ length: 2 }, () => 'as it answered; it cannot be read back'),
    )
  })

  test('failures from outside stand in the order of their time', () => {
    const failures = [
      { at: '2026-03-01T12:00:02.000Z', kind: '503' },
      { at: '2026-03-01T12:00:01.000Z', kind: 'reset', pod: 'web-1' },
    ]
    expect(buildReport(heard(), failures).failures.map(({ kind }) => kind)).toEqual(['reset', '503'])
  })
})

describe('what a report cannot know', () => {
  const record = sampleRecord({ pods: 2, window: 1 })

  test('a run whose process has told nothing', () => {
    const untold = { ...record, processes: [], pods: record.pods.map((one) => ({ ...one, accounts: [] })) }
    const report = buildReport(untold)
    expect(report.outcome).toBe('open')
    expect(report.missing).toEqual([expect.stringContaining('at work, or killed, are missing')])
    expect(report.pods.map(({ outcome, missing }) => ({ outcome, missing }))).toEqual(
      Array.from({ length: 2 }, () => ({ outcome: 'unknown', missing: 'no process has kept an account of it' })),
    )
    expect(buildReport({ ...untold, finishedAt: at(9) }).outcome).toBe('closed')
    expect(buildReport({ ...untold, finishedAt: at(9), abortedBy: 'ann' })).toMatchObject({
      outcome: 'aborted',
      reason: 'aborted by ann',
    })
  })

  test('a run that was begun by a process that was killed', () => {
    const [process] = record.processes
    const report = buildReport({ ...record, startedAt: at(-60_000), processes: [{ ...process!, resumed: true }] })
    expect(report.missing).toEqual([expect.stringContaining(`what it did before ${at(0)} is missing`)])
  })

  test('a process in between that was killed', () => {
    const [process] = record.processes
    const report = buildReport({ ...record, processes: [process!, { ...process!, epoch: 3, resumed: true }] })
    expect(report.missing).toEqual([expect.stringContaining('Between epoch 1 and epoch 3')])
    expect(buildReport({ ...record, processes: [process!, { ...process!, epoch: 2, resumed: true }] }).missing).toEqual([])
  })

  test('what a later run has closed', () => {
    const [process] = record.processes
    const interrupted = { ...process!, outcome: 'interrupted', reason: 'stopped' }
    const report = buildReport({ ...record, processes: [interrupted], finishedAt: '2026-12-01T00:00:00.000Z' })
    expect(report.reason).toBe('stopped; what it had left open was closed at 2026-12-01T00:00:00.000Z')
  })

  test('a pod that two processes have had keeps what both did', () => {
    const [first, second] = record.pods
    const both = { ...first!, accounts: [...second!.accounts, ...first!.accounts] }
    const report = buildReport({ ...record, pods: [both] })
    expect(report.pods[0]!.phases).toHaveLength(2 * first!.accounts[0]!.phases.length)
    expect(report.pods[0]!.effects).toHaveLength(4)
  })
})
