import { describe, expect, test } from 'vitest'
import type { RunOutcome } from '../../engine/events.ts'
import { createWriting } from '../../report/words/words.ts'
import { createColors } from '../output/color.ts'
import { summary } from '../output/summary.ts'
import { podResult, runResult, samplePlan } from '../testing/samples.ts'
import { finalReport, type EndedRun } from './final-report.ts'

const STANDS = ['The order to abort stands, as sluice status shows. To go on from here:', '  sluice abort sts/web']

/** Returns the report of a run with one pod out, ended by `sluice abort` by default. */
function ended(outcome: RunOutcome, { aborts = true, given }: { aborts?: boolean; given?: EndedRun['given'] } = {}) {
  const pods = [podResult({ pod: 'web-1', outcome: outcome === 'failed' ? 'failed' : 'interrupted', traffic: 'out' })]
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
  return { report, text: summary(report, createColors(false), createWriting()) }
}

// The report says that the order stands. `To take it back: sluice undo …` would read as if it could take the abort back.
test.each([
  ['by the command that was to carry it out', {}],
  ['and by the run that has heard it', { aborts: false, given: { order: 'abort', by: 'ann@desk' } }],
] as const)('an abort that is interrupted, %s: the order stands, and there is nothing to take back', (_, how) => {
  const { report, text } = ended('interrupted', how)
  expect(report).toMatchObject({
    abortStands: true,
    next: [{ to: 'goOn', argv: ['sluice', 'abort', 'sts/web'], shell: 'sluice abort sts/web' }],
  })
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
  expect(failed.next.map(({ to }) => to)).toEqual(['undo', 'goOn'])
})

test('an undo that is interrupted goes on with the run that it takes back', () => {
  const result = runResult({ outcome: 'interrupted' })
  const ending = { result, exitCode: 130, startedAt: '', finishedAt: '', warnings: [], given: undefined, isOver: false } as const
  const plan = { ...samplePlan, undoes: { run: 'r6', images: [] } }
  const order = { request: { undo: {} }, flags: {}, invocation: { program: 'sluice', args: ['undo', 'sts/web'] } }
  expect(finalReport({ ...ending, plan }, order, {}).next).toMatchObject([{ to: 'goOn', shell: 'sluice undo sts/web --run r6' }])
})

describe('what there is to run, by how the run has ended', () => {
  const mixed = [{ workload: 'statefulset/web', upgraded: 1, pods: 3 }]
  const order = { request: {}, flags: {}, invocation: { program: 'kubectl sluice', args: ['upgrade', 'sts/web'] } }
  const base = { plan: samplePlan, startedAt: '', finishedAt: '', warnings: [], given: undefined, isOver: false }

  function after(fields: Pick<EndedRun, 'result' | 'exitCode'> & Partial<EndedRun>, aborts = false) {
    return finalReport({ ...base, ...fields }, { ...order, aborts }, {})
  }

  function purposes(...args: Parameters<typeof after>): string[] {
    return after(...args).next.map(({ to }) => to)
  }

  const paused = { given: { order: 'pause', by: 'ann@desk' } } as const

  test.each([
    ['done', after({ result: runResult(), exitCode: 0, ...paused }), []],
    ['refused', after({ result: runResult({ outcome: 'refused' }), exitCode: 3 }), []],
    ['interrupted', after({ result: runResult({ outcome: 'interrupted' }), exitCode: 130 }), ['goOn']],
    ['paused', after({ result: runResult({ outcome: 'paused' }), exitCode: 5, ...paused }), ['liftPause', 'goOn']],
    [
      'rolled back',
      after({
        result: runResult({ outcome: 'rolledBack', pods: [podResult({ pod: 'web-1', outcome: 'rolledBack' })] }),
        exitCode: 6,
      }),
      ['end', 'goOn'],
    ],
    [
      'aborted with pods on two images',
      after({ result: runResult({ outcome: 'aborted', mixed }), exitCode: 0 }),
      ['backToTemplate'],
    ],
    [
      'over after an abort that found another template',
      after({ result: runResult({ outcome: 'conflict' }), exitCode: 7, isOver: true }),
      ['followTemplate'],
    ],
  ])('%s', (_, { next, pausedBy }, wanted) => {
    expect(next.map(({ to }) => to)).toEqual(wanted)
    expect(pausedBy).toBe(wanted.includes('liftPause') ? 'ann@desk' : undefined)
  })

  // The abort fails again on an image that does not exist, so it is not the last line.
  test('after an abort that has failed the last command brings the pods to the template', () => {
    const endedAs = (outcome: RunOutcome): string[] => purposes({ result: runResult({ outcome, mixed }), exitCode: 1 }, true)
    expect(endedAs('failed')).toEqual(['goOn', 'backToTemplate'])
    expect(endedAs('deadline')).toEqual(['backToTemplate', 'goOn'])
  })

  test('the program of a kubectl plugin is two words', () => {
    const { next } = after({ result: runResult({ outcome: 'aborted', mixed }), exitCode: 0 })
    expect(next).toEqual([
      {
        to: 'backToTemplate',
        workload: 'statefulset/web',
        argv: ['kubectl', 'sluice', 'upgrade', 'statefulset/web'],
        shell: 'kubectl sluice upgrade statefulset/web',
      },
    ])
  })
})
