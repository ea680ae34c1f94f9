import { expect, test } from 'vitest'
import type { PodAccount } from '../journal/account.ts'
import { podEnding } from './pod-ending.ts'
import type { PodRecord } from './run-record.ts'
import { sampleRecord } from './testing/sample-record.ts'

const sample = sampleRecord({ pods: 1, window: 1 })
const FINISHED = '2026-11-21T12:00:00.000Z'
const ALREADY = 'it runs the wanted images already'

/** How a pod has ended of which one process after the other has told so. */
function ended(
  accounts: Partial<PodAccount>[],
  change: Partial<PodRecord> = {},
  run: { finishedAt?: string; resumed?: boolean } = {},
) {
  const { resumed = true, ...finished } = run
  const told = accounts.map((one, index): PodAccount => {
    const epoch = index + 1
    return { startedAtMs: Date.parse('2026-11-21T11:00:00Z'), phases: [], effects: [], restarts: [], ...one, epoch }
  })
  const { epoch, ...ending } = podEnding(
    { ...sample.pods[0]!, accounts: told, ...change },
    { processes: sample.processes.map((one) => ({ ...one, resumed })), ...finished },
  )
  return { ...ending, by: epoch }
}

const skipped = { outcome: 'skipped', reason: ALREADY, out: false }
const upgraded = { outcome: 'upgraded', out: false }
const stranded = { outcome: 'needsOperator', reason: 'never put back by guess', out: true, instructions: 'look at it' }
const said = { outcome: 'resolved', reason: 'a person has said that it is in rotation', out: false }
const saidOut = { outcome: 'resolved', reason: 'a person has said that it is out of rotation', out: true }

test('what one process has upgraded is upgraded, also where those after it had nothing to do with it', () => {
  expect(ended([upgraded, skipped, skipped])).toMatchObject({ outcome: 'upgraded', reason: '', by: 1 })
  expect(ended([{ ...stranded, outcome: 'failed' }, upgraded])).toMatchObject({ outcome: 'upgraded', out: false, by: 2 })
})

test('what a person has said of it is told, and what there was to look at no more', () => {
  const reason = 'a person has said that it is in rotation (2026-11-21T11:00:00.000Z)'
  expect(ended([stranded, said])).toEqual({ outcome: 'resolved', reason, out: false, by: 2 })
  expect(ended([stranded, said, skipped])).toMatchObject({ outcome: 'resolved', reason: `${reason}; ${ALREADY}`, out: false })
  expect(ended([stranded, said, upgraded])).toMatchObject({ outcome: 'upgraded', by: 3 })
  const goesOn = expect.stringMatching(/out of rotation \(.*\): the same command goes on from there$/)
  expect(ended([stranded, saidOut])).toMatchObject({ outcome: 'resolved', reason: goesOn, out: true })
})

test.each([
  [
    'to which images, nobody has told',
    [skipped],
    ' who has brought it to them is not told: a process of this run that has left no account of it or somebody else',
  ],
  [
    'where it was open',
    [stranded, skipped],
    ' who has ended what was open of it is not told: sluice resolve, a process of this run that has left no account of it, or somebody else',
  ],
  [
    'where a person had said that it was out',
    [stranded, saidOut, skipped],
    ' who has ended what was open of it is not told: sluice resolve, a process of this run that has left no account of it, or somebody else',
  ],
])('who has brought it where it was found is not guessed: %s', (_, accounts, words) => {
  expect(ended(accounts)).toMatchObject({ outcome: 'skipped', reason: `${ALREADY};${words}`, out: false })
})

test('a run of one process has no other that could have done it, and a pod that had the images before needs nobody', () => {
  expect(ended([skipped], {}, { resumed: false }).reason).toBe(
    `${ALREADY}; who has brought it to them is not told: somebody else`,
  )
  expect(ended([skipped], { images: [{ container: 'app', from: 'app:v2', to: 'app:v2' }] }).reason).toBe(ALREADY)
})

// Found by a reader: the undo of a run had nothing to do with a pod that the run had not begun with, and by the report of the run it had
// been brought to images that it never ran.
test('what a process of another run finds of it is no end of it in this one', () => {
  const unchanged = { outcome: 'unchanged', reason: 'not started', out: false }
  const undone = { ...skipped, run: 'undo' }
  expect(ended([unchanged, undone])).toEqual({ ...unchanged, by: 1 })
  expect(ended([unchanged, undone, { ...skipped, run: 'later' }])).toEqual({ ...unchanged, by: 1 })
  expect(ended([upgraded, undone])).toMatchObject({ outcome: 'upgraded', reason: '', by: 1 })
  expect(ended([undone])).toEqual({ outcome: 'unknown', reason: '', out: false, by: undefined })
  expect(ended([stranded, undone])).toMatchObject({ outcome: 'needsOperator', out: true, by: 1 })
  expect(ended([stranded, undone, said])).toMatchObject({ outcome: 'resolved', out: false, by: 3 })
})

test('what a process of another run has done with what it had left open is told as of that run', () => {
  const settled = { outcome: 'settled', reason: 'put back', out: false, run: 'later' }
  const left = { ...stranded, instructions: 'look there', run: 'later' }
  const drained = { outcome: 'failed', reason: 'not ready', out: true }
  expect(ended([drained, settled])).toEqual({
    outcome: 'settled',
    reason: 'not ready; since then, by run later: settled, put back',
    out: false,
    by: 1,
  })
  const midway = { phases: [{ state: 'restoring', ms: 5 }], run: 'later' }
  expect(ended([drained, midway])).toMatchObject({
    outcome: 'failed',
    reason: 'not ready; since then, by run later: unknown',
    out: true,
  })
  expect(ended([drained, left])).toMatchObject({ outcome: 'needsOperator', out: true, instructions: 'look there' })
  expect(ended([upgraded, left])).toMatchObject({
    outcome: 'upgraded',
    reason: 'since then, by run later: needsOperator, never put back by guess',
    out: true,
  })
  expect(ended([left])).toEqual({
    outcome: 'needsOperator',
    reason: 'no process of this run has told of it; since then, by run later: needsOperator, never put back by guess',
    out: true,
    instructions: 'look there',
    by: undefined,
  })
})

test('what is closed is not out, though nobody has told how', () => {
  expect(ended([stranded])).toMatchObject({ outcome: 'needsOperator', out: true, instructions: 'look at it' })
  expect(ended([stranded], { isClosed: true })).toEqual({
    outcome: 'settled',
    reason: 'never put back by guess; closed since, by sluice resolve or by a process that has left no account of it',
    out: false,
    by: 1,
  })
  expect(ended([stranded], {}, { finishedAt: FINISHED })).toEqual({
    outcome: 'needsOperator',
    reason: `never put back by guess; nothing of it was open any more at ${FINISHED}`,
    out: false,
    by: 1,
  })
})
