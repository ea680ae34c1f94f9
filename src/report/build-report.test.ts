import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import { at as eventAt, said } from '../cli/testing/samples.ts'
import type { RunEventBody } from '../engine/events.ts'
import { withAccounts } from '../journal/ledger-accounts.ts'
import { writeProcessAccount } from '../journal/account.ts'
import type { Ledger, LedgerHeader } from '../journal/ledger.ts'
import { chunkName, ledgerChunks, readLedgers } from '../journal/ledger.ts'
import { createAccount } from '../engine/account.ts'
import type { PodResult } from '../engine/events.ts'
import type { Reason } from '../reasons/reason.ts'
import { worstOutcome } from '../engine/outcome.ts'
import { buildReport } from './build-report.ts'
import { createRecorder } from './recorder.ts'
import { recordOfLedger } from './run-record.ts'
import { at, sampleRecord } from './testing/sample-record.ts'

const prior = { state: 'ready', weight: 100 }
const target = { loadBalancer: 'edge', target: 'web/web-1@10.0.0.1:80' }
const pod = { uid: 'u1', pod: 'web-1' }

function call(effect: 'drain' | 'restore', outcome: 'applied' | 'ambiguous' | 'confirmed' | 'failed' = 'applied'): RunEventBody {
  return { type: 'effect', ...pod, ...target, effect, operation: `op-${effect}`, outcome, batch: 1, durationMs: 7 }
}

function state(to: Extract<RunEventBody, { type: 'podState' }>['to'], waiting?: Reason): RunEventBody {
  return { type: 'podState', ...pod, from: null, to, ...(waiting === undefined ? {} : { waiting }) }
}

/** The events of one pod with a normal upgrade, with these numbers of milliseconds between them. */
function straight(...between: RunEventBody[]) {
  const restarts = [
    { container: 'app', image: { from: 'app:v1', to: 'app:v2' }, containerId: { from: 'aa', to: 'bb' }, imageId: {} },
  ]
  const bodies: RunEventBody[] = [
    {
      type: 'planned',
      plan: {
        namespace: 'shop',
        workloads: [{ ...STATEFUL_SET, name: 'web', namespace: 'shop' }],
        images: [{ container: 'app', image: 'app:v2' }],
        templates: [],
        pods: [
          {
            uid: 'u1',
            name: 'web-1',
            action: 'upgrade',
            reason: said(''),
            images: [{ container: 'app', from: 'app:v1', to: 'app:v2' }],
            targets: [{ ...target, inRotation: true }],
          },
        ],
        window: 2,
        guarantees: [{ loadBalancer: 'edge', adapter: 'haproxy', level: 'G1', inFlight: 'exact', disruptsOthers: false }],
        warnings: [],
        refusals: [],
      },
    },
    { type: 'started', run: 'r1', epoch: 4, resumed: false, pods: [pod] },
    state('queued'),
    state('draining'),
    call('drain'),
    state('emptying', { code: 'in-flight', requests: 2 }),
    { type: 'podDetail', ...pod, state: 'emptying', waiting: { code: 'in-flight', requests: 0 } },
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
        reason: { code: 'upgraded', rotation: 'in' },
        traffic: 'asBefore',
        record: 'closed',
        advice: [],
        phases: {},
        proof: 'witness',
        restarts,
        targets: [{ ...target, prior }],
      },
    },
  ]
  return bodies.map((body, index) => eventAt(index * 10, body))
}

const result = { outcome: 'done', reason: { code: 'counts', upgraded: 1, already: 0, left: 0 } } as const

function heard(...between: RunEventBody[]) {
  const recorder = createRecorder()
  for (const event of straight(...between)) recorder.onEvent(event)
  return recorder.record({ by: 'ci_1', at: new Date(Date.parse('2026-03-01T12:01:00Z')), result })
}

/** The run after its ledger was written and read. */
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
      workloads: [{ ...STATEFUL_SET, name: 'web', uid: 'w' }],
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
  const parts = ledgerChunks(ledger).map((data, chunk) => ({
    name: chunkName('r1', chunk),
    run: 'r1',
    workloads: [],
    data,
    version: '1',
  }))
  const [read] = readLedgers(parts)
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
    // Each phase begins at the end of the one before.
    only!.phases.slice(1).forEach((phase, index) => expect(phase.fromAt).toBe(only!.phases[index]!.toAt))
    expect(only!.phases[2]).toEqual({
      state: 'emptying',
      fromAt: '2026-03-01T12:00:00.050Z',
      toAt: '2026-03-01T12:00:00.070Z',
      waiting: { code: 'in-flight', requests: 0 },
    })
    expect(only!.effects).toMatchObject([
      {
        effect: 'drain',
        outcome: 'done',
        at: '2026-03-01T12:00:00.040Z',
        durationMs: 7,
        evidence: [{ code: 'read-back-as-out', because: { code: 'in-flight', requests: 0 } }],
      },
      { effect: 'restore', outcome: 'done', evidence: [{ code: 'read-back-as-before', prior }] },
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
      Array.from({ length: 2 }, () => [{ code: 'as-answered' }]),
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
    expect(report.missing).toEqual([{ code: 'no-account', finished: false }])
    expect(report.pods.map(({ outcome, missing }) => ({ outcome, missing }))).toEqual(
      Array.from({ length: 2 }, () => ({ outcome: 'unknown', missing: { code: 'pod-without-account' } })),
    )
    expect(buildReport({ ...untold, finishedAt: at(9) }).outcome).toBe('closed')
    expect(buildReport({ ...untold, finishedAt: at(9), abortedBy: 'ann' })).toMatchObject({
      outcome: 'aborted',
      reason: { code: 'aborted-by', by: 'ann' },
    })
  })

  test('a run that was begun by a process that was killed', () => {
    const [process] = record.processes
    const report = buildReport({ ...record, startedAt: at(-60_000), processes: [{ ...process!, resumed: true }] })
    expect(report.missing).toEqual([{ code: 'first-account-lost', before: at(0), begunAt: at(-60_000) }])
  })

  test('a process in between that was killed', () => {
    const [process] = record.processes
    const report = buildReport({ ...record, processes: [process!, { ...process!, epoch: 3, resumed: true }] })
    expect(report.missing).toEqual([{ code: 'owner-unknown', fromEpoch: 1, toEpoch: 3, accountsLost: false }])
    expect(buildReport({ ...record, processes: [process!, { ...process!, epoch: 2, resumed: true }] }).missing).toEqual([])
    const lost = buildReport({ ...record, processes: [process!, { ...process!, epoch: 3, resumed: true, lost: 1 }] })
    expect(lost.missing).toEqual([
      { code: 'owner-unknown', fromEpoch: 1, toEpoch: 3, accountsLost: true },
      { code: 'processes-not-kept', processes: 1, kept: 8 },
    ])
  })

  test('what a later run has closed', () => {
    const [process] = record.processes
    const interrupted = { ...process!, outcome: 'interrupted', reason: said('stopped') }
    const report = buildReport({ ...record, processes: [interrupted], finishedAt: '2026-12-01T00:00:00.000Z' })
    expect(report.reason).toEqual({
      code: 'several',
      reasons: [said('stopped'), { code: 'left-open-closed-at', at: '2026-12-01T00:00:00.000Z' }],
    })
  })

  test('a pod that two processes have had keeps what both did', () => {
    const [first, second] = record.pods
    const both = { ...first!, accounts: [...second!.accounts, ...first!.accounts] }
    const report = buildReport({ ...record, pods: [both] })
    expect(report.pods[0]!.phases).toHaveLength(2 * first!.accounts[0]!.phases.length)
    expect(report.pods[0]!.effects).toHaveLength(4)
  })
})

describe('a run that several processes had', () => {
  const counts = (upgraded: number, already: number) => ({ code: 'counts', upgraded, already, left: 0 }) as const
  const record = sampleRecord({ pods: 3, window: 1 })
  const [process] = record.processes
  const [first, ...others] = record.pods
  const skipped = {
    phases: [],
    effects: [],
    restarts: [],
    outcome: 'skipped',
    reason: { code: 'runs-wanted-images', ready: true } as const,
    out: false,
  }
  const later = { startedAtMs: Date.parse(at(3_600_000)), epoch: 3 }
  const counted = worstOutcome(['upgraded', 'upgraded', 'skipped'].map((outcome) => ({ outcome }) as PodResult))
  const ending = { ...process!, epoch: 3, resumed: true, ...counted }
  const reports = others.map((one) => ({ ...one, accounts: [{ ...one.accounts[0]!, epoch: 3 }] }))

  test('counts what those before the last have upgraded', () => {
    const both = { ...first!, accounts: [...first!.accounts, { ...skipped, ...later }] }
    const report = buildReport({
      ...record,
      processes: [{ ...process!, outcome: 'interrupted' }, ending],
      pods: [both, ...reports],
    })
    expect(report).toMatchObject({ outcome: 'done', reason: counts(3, 0) })
    expect(report.processes[1]!.reason).toEqual(counts(2, 1))
    const found = report.pods.find(({ uid }) => uid === first!.uid)
    expect(found).toMatchObject({ outcome: 'upgraded', proof: 'witness' })
    expect(found!.effects.at(-1)).toMatchObject({
      effect: 'restore',
      evidence: [{ code: 'read-back-as-before', prior }],
    })
    expect(new Set(report.pods.map(({ outcome }) => outcome))).toEqual(new Set(['upgraded']))
  })

  test('tells the process of a pod by that, and not by the Lease of the workload, of a run of several', () => {
    const both = { ...first!, accounts: [...first!.accounts, { ...skipped, ...later, epoch: 2, processEpoch: 3 }] }
    const some = others.map((one) => ({ ...one, accounts: [{ ...one.accounts[0]!, epoch: 2, processEpoch: 3 }] }))
    const report = buildReport({ ...record, processes: [process!, ending], pods: [both, ...some] })
    expect(report.reason).toEqual(counts(3, 0))
  })

  test('counts so also of an undo, and says what that has left as it is', () => {
    const both = { ...first!, accounts: [...first!.accounts, { ...skipped, ...later }] }
    const undone = { ...ending, reason: { ...counts(2, 1), left: 1 } }
    const report = buildReport({ ...record, processes: [process!, undone], pods: [both, ...reports] })
    expect(report.reason).toEqual({ ...counts(3, 0), left: 1 })
  })

  test('counts a pod that nobody has upgraded as the last process does', () => {
    const found = { ...first!, accounts: [{ ...skipped, ...later }] }
    const report = buildReport({ ...record, processes: [process!, ending], pods: [found, ...reports] })
    expect(report.reason).toEqual(counts(2, 1))
  })

  const word = {
    ...process!,
    by: 'ann_1',
    epoch: 2,
    resumed: true,
    endedAt: at(3_000_000),
    outcome: 'resolved',
    reason: said('web-2: a person has said that it is in rotation'),
    window: 0,
    guarantees: [],
    warnings: [],
  }
  const stuck = { ...process!, outcome: 'needsOperator', reason: said('web-2: in doubt') }
  const resolved = {
    ...skipped,
    epoch: 2,
    startedAtMs: Date.parse(at(3_000_000)),
    outcome: 'resolved',
    reason: said('a person has said so'),
  }

  test('tells of a person who has resolved a pod of it', () => {
    const accounts = [{ ...first!.accounts[0]!, outcome: 'needsOperator', out: true }, resolved, { ...skipped, ...later }]
    const report = buildReport({ ...record, processes: [stuck, word, ending], pods: [{ ...first!, accounts }, ...reports] })
    expect(report).toMatchObject({
      outcome: 'done',
      reason: { ...counts(2, 0), resolved: 1 },
      window: 1,
      missing: [],
      warnings: [{ reason: word.reason }],
    })
    expect(report.processes.map(({ by, outcome }) => [by, outcome])).toEqual([
      ['ci-runner-7_4711_tqjtfp', 'needsOperator'],
      ['ann_1', 'resolved'],
      ['ci-runner-7_4711_tqjtfp', 'done'],
    ])
    expect(report.pods.find(({ uid }) => uid === first!.uid)).toMatchObject({ outcome: 'resolved', out: false })
  })

  test('has ended as its last process has, whatever a person has said since then', () => {
    const report = buildReport({ ...record, processes: [stuck, word], pods: [] })
    expect(report).toMatchObject({
      outcome: 'needsOperator',
      reason: { code: 'several', reasons: [stuck.reason, { code: 'since-then', reason: word.reason }] },
      endedAt: process!.endedAt,
      window: 1,
      warnings: [],
    })
  })

  test('says once what several of them have said', () => {
    const held = { pod: 'web-2', reason: { code: 'held-after', pod: 'web-2', ending: 'rolledBack' } } as const
    const own = (epoch: number) => ({ reason: said(`of ${epoch}`) })
    const processes = [1, 2].map((epoch) => ({ ...process!, epoch, warnings: [{ ...held }, own(epoch)] }))
    expect(buildReport({ ...record, processes }).warnings).toEqual([held, own(1), own(2)])
  })
})
