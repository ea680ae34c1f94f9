import { describe, expect, test } from 'vitest'
import type { PodOutcome, PodResult } from './events.ts'
import { endingOfAbort, isBrought, withOpenRecord, withOverlooked, worstOutcome } from './outcome.ts'
import { said } from './testing/said.ts'

const BECAUSE = said('because')

const pod = (outcome: PodOutcome, out = false): PodResult => ({
  uid: outcome,
  pod: outcome,
  outcome,
  reason: BECAUSE,
  traffic: out ? 'out' : 'asBefore',
  record: out ? 'open' : 'closed',
  advice: [],
  phases: {},
})

describe('the worst of all pods', () => {
  test.each<[PodOutcome[], string]>([
    [['upgraded', 'skipped', 'settled'], 'done'],
    [['rolledBack', 'unchanged', 'upgraded'], 'rolledBack'],
    [['failed', 'rolledBack'], 'failed'],
    [['needsOperator', 'failed', 'conflict'], 'needsOperator'],
    [['interrupted', 'unchanged'], 'interrupted'],
    // The pod for which the run stopped is gone. Pods that were not started are no success.
    [['settled', 'unchanged'], 'failed'],
  ])('%j: %s', (outcomes, worst) => {
    expect(worstOutcome(outcomes.map((outcome) => pod(outcome))).outcome).toBe(worst)
  })
})

test.each([
  [['upgraded', 'skipped'], { upgraded: 1, already: 1, left: 0 }],
  [['upgraded', 'skipped', 'stays 1'], { upgraded: 1, already: 1, left: 1 }],
  [['stays 1', 'stays 2'], { upgraded: 0, already: 0, left: 2 }],
])('%j: what stays as it is counts as that, on whatever images', (pods, counts) => {
  const results = pods.map((uid) => ({ ...pod(uid.startsWith('stays') ? 'skipped' : (uid as PodOutcome)), uid }))
  expect(worstOutcome(results, (uid) => uid.startsWith('stays'))).toEqual({
    outcome: 'done',
    reason: { code: 'counts', ...counts },
  })
})

test('a pod that had failed before it went has failed its run, which says why, and is there to be gone on with', () => {
  const gone: PodResult = { ...pod('settled'), before: { outcome: 'rolledBack', reason: said('it crashed') } }
  const pods = [pod('upgraded'), gone, pod('unchanged')]
  expect(worstOutcome(pods)).toEqual({
    outcome: 'failed',
    reason: { code: 'pods', pods: [{ uid: 'settled', pod: 'settled', reason: BECAUSE, failed: said('it crashed') }] },
  })
  expect([isBrought(gone), isBrought(pod('settled'))]).toEqual([false, true])
  // The pod came home in the end.
  expect(isBrought({ ...pod('upgraded'), before: { outcome: 'failed', reason: BECAUSE } })).toBe(true)
})

test('an abort is none where the journal of a pod could not be closed', () => {
  const unclosed: PodResult = { ...pod('failed'), record: 'unclosed' }
  const asked = { by: 'ann', takesOver: false, isOnNew: () => false }
  expect(endingOfAbort([pod('unchanged'), unclosed], asked)).toEqual({
    outcome: 'failed',
    reason: { code: 'pods', pods: [{ uid: 'failed', pod: 'failed', reason: BECAUSE }] },
  })
  // Control: the pod failed, and is home.
  expect(endingOfAbort([pod('unchanged'), pod('failed')], asked).outcome).toBe('aborted')
})

test('an abort is none where its record stays open, and what is worse stays so', () => {
  const left = { code: 'run-not-ended', because: said('refused') }
  const ends = (['aborted', 'needsOperator'] as const).map((outcome) =>
    withOpenRecord({ outcome, reason: BECAUSE }, { trouble: said('refused'), as: 'conflict' }),
  )
  expect(ends).toEqual([
    { outcome: 'conflict', reason: left },
    { outcome: 'needsOperator', reason: { code: 'several', reasons: [BECAUSE, left] } },
  ])
})

test('a run is no success where it leaves pods that nobody has looked after, and what is worse stays so', () => {
  const LEFT = [{ pod: 'web-2' }, { pod: 'web-0' }]
  const overlooked = { code: 'overlooked', pods: LEFT }
  const ends = (['done', 'aborted', 'needsOperator'] as const).map((outcome) =>
    withOverlooked({ outcome, reason: BECAUSE }, LEFT),
  )
  expect(ends).toEqual([
    { outcome: 'failed', reason: overlooked },
    { outcome: 'failed', reason: overlooked },
    { outcome: 'needsOperator', reason: { code: 'several', reasons: [BECAUSE, overlooked] } },
  ])
})

describe('an abort', () => {
  const isOnNew = (): boolean => false

  test('has done what it promises where nobody is left half done', () => {
    const pods = [pod('upgraded'), pod('skipped'), pod('unchanged'), pod('unchanged'), pod('settled'), pod('failed')]
    expect(endingOfAbort(pods, { by: 'ann', takesOver: false, isOnNew })).toEqual({
      outcome: 'aborted',
      reason: { code: 'aborted', by: 'ann', upgraded: 1, old: 3 },
    })
  })

  test('counts what was patched to other images than were asked for in the end by those that it has', () => {
    const pods = [pod('unchanged'), pod('failed'), pod('upgraded')]
    const { reason } = endingOfAbort(pods, { by: 'ann', takesOver: false, isOnNew: (uid) => uid === 'unchanged' })
    expect(reason).toEqual({ code: 'aborted', by: 'ann', upgraded: 2, old: 1 })
  })

  test.each<[PodResult[], { upgraded: number; old: number; open: number }]>([
    [[pod('upgraded')], { upgraded: 1, old: 0, open: 1 }],
    [[], { upgraded: 0, old: 0, open: 0 }],
  ])('of a run that another began says nothing of the pods that this had done with', (pods, counts) => {
    expect(endingOfAbort(pods, { by: 'ann', takesOver: true, isOnNew })).toEqual({
      outcome: 'aborted',
      reason: { code: 'aborted', by: 'ann', ...counts },
    })
  })

  test.each<[PodResult, string]>([
    [pod('failed', true), 'failed'],
    [pod('needsOperator'), 'needsOperator'],
    [pod('interrupted', true), 'interrupted'],
    [pod('conflict'), 'conflict'],
  ])('has not, where one pod ended as $outcome', (one, outcome) => {
    expect(endingOfAbort([pod('upgraded'), pod('unchanged'), one], { by: 'ann', takesOver: false, isOnNew }).outcome).toBe(
      outcome,
    )
  })
})
