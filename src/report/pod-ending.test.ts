import { expect, test } from 'vitest'
import { said } from '../cli/testing/samples.ts'
import type { PodAccount } from '../journal/account.ts'
import type { Reason } from '../reasons/reason.ts'
import { several } from '../reasons/several.ts'
import { podEnding } from './pod-ending.ts'
import type { PodRecord } from './run-record.ts'
import { sampleRecord } from './testing/sample-record.ts'

const sample = sampleRecord({ pods: 1, window: 1 })
const FINISHED = '2026-11-21T12:00:00.000Z'
const ALREADY = { code: 'runs-wanted-images', ready: true } as const

/** The end of a pod after the accounts of several processes, in their order. */
function ended(
  accounts: Partial<PodAccount>[],
  change: Partial<PodRecord> = {},
  run: { finishedAt?: string; resumed?: boolean } = {},
) {
  const { resumed = true, ...finished } = run
  const told = accounts.map((one, index): PodAccount => {
    const epoch = index + 1
    return { startedAtMs: Date.parse(AT), phases: [], effects: [], restarts: [], ...one, epoch }
  })
  const { epoch, ...ending } = podEnding(
    { ...sample.pods[0]!, accounts: told, ...change },
    { processes: sample.processes.map((one) => ({ ...one, resumed })), ...finished },
  )
  return { ...ending, by: epoch }
}

const skipped = { outcome: 'skipped', reason: ALREADY, out: false }
const upgraded = { outcome: 'upgraded', out: false }
const GUESS: Reason = { code: 'abandoned', pod: 'web-0', entries: [] }
const stranded = { outcome: 'needsOperator', reason: GUESS, out: true, advice: [{ code: 'run-again' } as const] }
const SAID_IN: Reason = { code: 'said-of-pod', traffic: 'in', loadBalancers: [] }
const SAID_OUT: Reason = { code: 'said-of-pod', traffic: 'out', loadBalancers: [] }
const saidIn = { outcome: 'resolved', reason: SAID_IN, out: false }
const saidOut = { outcome: 'resolved', reason: SAID_OUT, out: true }
const AT = '2026-11-21T11:00:00.000Z'

function untold(what: 'ended' | 'brought', resolve: boolean, lostProcess = true): Reason {
  return { code: 'end-not-told', what, resolve, lostProcess }
}

function byLater(outcome: string, because?: Reason): Reason {
  return { code: 'since-by-run', run: 'later', outcome, ...(because ? { because } : {}) }
}

test('what one process has upgraded is upgraded, also where those after it had nothing to do with it', () => {
  expect(ended([upgraded, skipped, skipped])).toEqual({ outcome: 'upgraded', out: false, by: 1 })
  expect(ended([{ ...stranded, outcome: 'failed' }, upgraded])).toMatchObject({ outcome: 'upgraded', out: false, by: 2 })
})

test('what a person has said of it is told, and what there was to look at no more', () => {
  const reason: Reason = { code: 'at-instant', reason: SAID_IN, at: AT }
  expect(ended([stranded, saidIn])).toEqual({ outcome: 'resolved', reason, out: false, by: 2 })
  expect(ended([stranded, saidIn, skipped])).toMatchObject({ outcome: 'resolved', reason: several(reason, ALREADY), out: false })
  expect(ended([stranded, saidIn, upgraded])).toMatchObject({ outcome: 'upgraded', by: 3 })
  const goesOn = several({ code: 'at-instant', reason: SAID_OUT, at: AT }, { code: 'same-command-goes-on' })
  expect(ended([stranded, saidOut])).toMatchObject({ outcome: 'resolved', reason: goesOn, out: true })
})

test.each([
  ['to which images, nobody has told', [skipped], untold('brought', false)],
  ['where it was open', [stranded, skipped], untold('ended', true)],
  ['where a person had said that it was out', [stranded, saidOut, skipped], untold('ended', true)],
])('who has brought it where it was found is not guessed: %s', (_, accounts, reason) => {
  expect(ended(accounts)).toMatchObject({ outcome: 'skipped', reason: several(ALREADY, reason), out: false })
})

test('a run of one process has no other that could have done it, and a pod that had the images before needs nobody', () => {
  expect(ended([skipped], {}, { resumed: false }).reason).toEqual(several(ALREADY, untold('brought', false, false)))
  expect(ended([skipped], { images: [{ container: 'app', from: 'app:v2', to: 'app:v2' }] }).reason).toEqual(ALREADY)
})

// An undo that had nothing to do with a pod does not end the pod's upgrade in the undone run.
test('what a process of another run finds of it is no end of it in this one', () => {
  const unchanged = { outcome: 'unchanged', reason: { code: 'not-started' } as const, out: false }
  const undone = { ...skipped, run: 'undo' }
  expect(ended([unchanged, undone])).toEqual({ ...unchanged, by: 1 })
  expect(ended([unchanged, undone, { ...skipped, run: 'later' }])).toEqual({ ...unchanged, by: 1 })
  expect(ended([upgraded, undone])).toEqual({ outcome: 'upgraded', out: false, by: 1 })
  expect(ended([undone])).toEqual({ outcome: 'unknown', out: false, by: undefined })
  expect(ended([stranded, undone])).toMatchObject({ outcome: 'needsOperator', out: true, by: 1 })
  expect(ended([stranded, undone, saidIn])).toMatchObject({ outcome: 'resolved', out: false, by: 3 })
})

test('what a process of another run has done with what it had left open is told as of that run', () => {
  const settled = { outcome: 'settled', reason: said('put back'), out: false, run: 'later' }
  const left = { ...stranded, advice: [{ code: 'point-entries-at-replacement' } as const], run: 'later' }
  const drained = { outcome: 'failed', reason: said('not ready'), out: true }
  expect(ended([drained, settled])).toEqual({
    outcome: 'settled',
    reason: several(said('not ready'), byLater('settled', said('put back'))),
    out: false,
    by: 1,
  })
  const midway = { phases: [{ state: 'restoring', ms: 5 }], run: 'later' }
  expect(ended([drained, midway])).toMatchObject({
    outcome: 'failed',
    reason: several(said('not ready'), byLater('unknown')),
    out: true,
  })
  expect(ended([drained, left])).toMatchObject({ outcome: 'needsOperator', out: true, advice: left.advice })
  expect(ended([upgraded, left])).toMatchObject({
    outcome: 'upgraded',
    reason: byLater('needsOperator', GUESS),
    out: true,
  })
  expect(ended([left])).toEqual({
    outcome: 'needsOperator',
    reason: several({ code: 'not-told' }, byLater('needsOperator', GUESS)),
    out: true,
    advice: left.advice,
    by: undefined,
  })
})

test('what is closed is not out, though nobody has told how', () => {
  expect(ended([stranded])).toMatchObject({ outcome: 'needsOperator', out: true, advice: stranded.advice })
  expect(ended([stranded], { isClosed: true })).toEqual({
    outcome: 'settled',
    reason: several(GUESS, { code: 'closed-since' }),
    out: false,
    by: 1,
  })
  expect(ended([stranded], {}, { finishedAt: FINISHED })).toEqual({
    outcome: 'needsOperator',
    reason: several(GUESS, { code: 'nothing-open-at', at: FINISHED }),
    out: false,
    by: 1,
  })
})
