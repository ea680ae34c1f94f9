import { expect, test } from 'vitest'
import type { RunOutcome } from '../../engine/events.ts'
import { createColors } from '../output/color.ts'
import { summary } from '../output/summary.ts'
import { podResult, runResult, samplePlan } from '../testing/samples.ts'
import { finalReport, type EndedRun } from './final-report.ts'

const STANDS = ['The order to abort stands, as sluice status shows. To go on from here:', '  sluice abort sts/web']

/** Of a run with one pod out, ended by `sluice abort` unless told otherwise. */
function ended(outcome: RunOutcome, { aborts = true, given }: { aborts?: boolean; given?: EndedRun['given'] } = {}) {
  const pods = [podResult({ pod: 'web-1', outcome: outcome === 'failed' ? 'failed' : 'interrupted', out: true })]
  const report = finalReport(
    {
      result: runResult({ outcome, pods }),
      plan: samplePlan,
      exitCode: outcome === 'failed' ? 1 : 130,
      startedAt: '',
      finishedAt: '',
      warnings: [],
      given,
      isOver: false,
    },
    { request: {}, flags: {}, invocation: { program: 'sluice', args: ['abort', 'sts/web'] }, aborts },
    {},
  )
  return { report, text: summary(report, createColors(false)) }
}

// Found by a reader: nothing said that the order stands, and `To take it back: sluice undo …` read as if the abort could be.
test.each([
  ['by the command that was to carry it out', {}],
  ['and by the run that has heard it', { aborts: false, given: { order: 'abort', by: 'ann@desk' } }],
] as const)('an abort that is interrupted, %s: the order stands, and there is nothing to take back', (_, how) => {
  const { report, text } = ended('interrupted', how)
  expect(report).toMatchObject({ abortStands: true, resumeCommand: 'sluice abort sts/web' })
  expect(report).not.toHaveProperty('undoCommands')
  expect(text.slice(-2)).toEqual(STANDS)
  expect(text.join('\n')).not.toContain('take it back')
})

test('control: one that is interrupted and not aborted is taken back, and goes on; so is an abort that has failed', () => {
  const { report, text } = ended('interrupted', { aborts: false })
  expect(report).not.toHaveProperty('abortStands')
  expect(text.slice(-5)).toEqual([
    'To take it back:',
    '  sluice undo statefulset/web --run r7',
    '',
    'To go on from here:',
    '  sluice abort sts/web',
  ])
  const failed = ended('failed').report
  expect(failed).not.toHaveProperty('abortStands')
  expect(failed.undoCommands).toHaveLength(1)
})

test('an undo that is interrupted goes on with the run that it takes back', () => {
  const result = runResult({ outcome: 'interrupted' })
  const ending = { result, exitCode: 130, startedAt: '', finishedAt: '', warnings: [], given: undefined, isOver: false } as const
  const plan = { ...samplePlan, undoes: { run: 'r6', images: [] } }
  const order = { request: { undo: {} }, flags: {}, invocation: { program: 'sluice', args: ['undo', 'sts/web'] } }
  expect(finalReport({ ...ending, plan }, order, {}).resumeCommand).toBe('sluice undo sts/web --run r6')
})
