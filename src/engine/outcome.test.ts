import { describe, expect, test } from 'vitest'
import type { PodOutcome, PodResult } from './events.ts'
import { endingOfAbort, isBrought, withOpenRecord, withOverlooked, worstOutcome } from './outcome.ts'

const pod = (outcome: PodOutcome, out = false): PodResult => ({
  uid: outcome,
  pod: outcome,
  outcome,
  reason: 'because',
  out,
  phases: {},
})

describe('the worst of all pods', () => {
  test.each<[PodOutcome[], string]>([
    [['upgraded', 'skipped', 'settled'], 'done'],
    [['rolledBack', 'unchanged', 'upgraded'], 'rolledBack'],
    [['failed', 'rolledBack'], 'failed'],
    [['needsOperator', 'failed', 'conflict'], 'needsOperator'],
    [['interrupted', 'unchanged'], 'interrupted'],
    // The one that the run stopped for is gone meanwhile: those that were not started are no success.
    [['settled', 'unchanged'], 'failed'],
  ])('%j: %s', (outcomes, worst) => {
    expect(worstOutcome(outcomes.map((outcome) => pod(outcome))).outcome).toBe(worst)
  })
})

test.each([
  [['upgraded', 'skipped'], '1 upgraded, 1 at the wanted images already'],
  [['upgraded', 'skipped', 'stays 1'], '1 upgraded, 1 at the wanted images already, 1 left as it is'],
  [['stays 1', 'stays 2'], '0 upgraded, 0 at the wanted images already, 2 left as they are'],
])('%j: what stays as it is counts as that, on whatever images', (pods, reason) => {
  const results = pods.map((uid) => ({ ...pod(uid.startsWith('stays') ? 'skipped' : (uid as PodOutcome)), uid }))
  expect(worstOutcome(results, (uid) => uid.startsWith('stays'))).toEqual({ outcome: 'done', reason })
})

test('a pod that had failed before it went has failed its run, which says why, and is there to be gone on with', () => {
  const gone: PodResult = { ...pod('settled'), reason: 'it crashed; gone', hadFailed: 'rolledBack' }
  const pods = [pod('upgraded'), gone, pod('unchanged')]
  expect(worstOutcome(pods)).toEqual({ outcome: 'failed', reason: 'settled: it crashed; gone' })
  expect([isBrought(gone), isBrought(pod('settled'))]).toEqual([false, true])
  // It came home in the end all the same.
  expect(isBrought({ ...pod('upgraded'), hadFailed: 'failed' })).toBe(true)
})

test('an abort is none where the journal of a pod could not be closed', () => {
  const unclosed: PodResult = { ...pod('failed'), unclosed: true }
  const asked = { by: 'ann', takesOver: false, isOnNew: () => false }
  expect(endingOfAbort([pod('unchanged'), unclosed], asked)).toEqual({ outcome: 'failed', reason: 'failed: because' })
  // Control: it failed, and is home.
  expect(endingOfAbort([pod('unchanged'), pod('failed')], asked).outcome).toBe('aborted')
})

test('an abort is none where its record stays open, and what is worse stays so', () => {
  const left = 'this process has not ended the run: refused; while it is open its abort stays ordered'
  const ends = (['aborted', 'needsOperator'] as const).map((outcome) =>
    withOpenRecord({ outcome, reason: 'because' }, { trouble: 'refused', as: 'conflict' }),
  )
  expect(ends).toEqual([
    { outcome: 'conflict', reason: left },
    { outcome: 'needsOperator', reason: `because; ${left}` },
  ])
})

test('a run is no success where it leaves pods that nobody has looked after, and what is worse stays so', () => {
  const ends = (['done', 'aborted', 'needsOperator'] as const).map((outcome) =>
    withOverlooked({ outcome, reason: 'because' }, ['web-2', 'web-0']),
  )
  expect(ends).toEqual([
    { outcome: 'failed', reason: expect.stringMatching(/^not settled: web-2, web-0: .*the same command/) },
    { outcome: 'failed', reason: expect.stringMatching(/^not settled: web-2, web-0: /) },
    { outcome: 'needsOperator', reason: expect.stringMatching(/^because; not settled: web-2, web-0: /) },
  ])
})

describe('an abort', () => {
  const isOnNew = (): boolean => false

  test('has done what it promises where nobody is left half done', () => {
    const pods = [pod('upgraded'), pod('skipped'), pod('unchanged'), pod('unchanged'), pod('settled'), pod('failed')]
    expect(endingOfAbort(pods, { by: 'ann', takesOver: false, isOnNew })).toEqual({
      outcome: 'aborted',
      reason: 'by ann; 1 on their new images, 3 left on their old ones',
    })
  })

  test('counts what was patched to other images than were asked for in the end by those that it has', () => {
    const pods = [pod('unchanged'), pod('failed'), pod('upgraded')]
    const { reason } = endingOfAbort(pods, { by: 'ann', takesOver: false, isOnNew: (uid) => uid === 'unchanged' })
    expect(reason).toBe('by ann; 2 on their new images, 1 left on their old ones')
  })

  test.each<[PodResult[], string]>([
    [[pod('upgraded')], 'by ann; of the open pods, 1 on their new images, 0 left on their old ones'],
    [[], 'by ann; no pod was open'],
  ])('of a run that another began says nothing of the pods that this had done with', (pods, reason) => {
    expect(endingOfAbort(pods, { by: 'ann', takesOver: true, isOnNew })).toEqual({ outcome: 'aborted', reason })
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
