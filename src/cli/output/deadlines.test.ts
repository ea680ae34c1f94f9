import { expect, test } from 'vitest'
import type { PodResult } from '../../engine/events.ts'
import { worstOutcome } from '../../engine/outcome.ts'
import { exitCodeOfRun } from '../exit-codes.ts'
import { podResult, runResult, samplePlan } from '../testing/samples.ts'
import { createColors } from './color.ts'
import { runReport } from './run-report.ts'
import { finishedPod } from './sentences.ts'
import { summary } from './summary.ts'

/* A deadline is told by its name, in JSON and in text, and each has its exit code. */

const ends: [deadline: string, outcome: PodResult['outcome'], out: boolean, code: number][] = [
  ['drain', 'failed', false, 4],
  ['drain', 'failed', true, 1],
  ['restart', 'failed', true, 1],
  ['restart', 'rolledBack', false, 6],
  ['ready', 'failed', true, 1],
  ['ready', 'rolledBack', false, 6],
  ['ready', 'needsOperator', true, 8],
  ['restore', 'failed', true, 1],
  ['restore', 'needsOperator', true, 8],
]

test.each(ends)('%s, and the pod ends as %s (out: %s): exit code %i', (deadline, outcome, out, code) => {
  const pod = podResult({ pod: 'web-1', outcome, out, deadline, reason: 'not in time' })
  const others = [podResult({ pod: 'web-0', outcome: 'upgraded' }), podResult({ pod: 'web-2', outcome: 'unchanged' })]
  const result = runResult({ ...worstOutcome([pod, ...others]), pods: [pod, ...others] })
  const exitCode = exitCodeOfRun(result.outcome)
  expect(exitCode).toBe(code)
  const times = { startedAt: '', finishedAt: '' }
  const report = runReport({
    result,
    plan: samplePlan,
    exitCode,
    ...times,
    warnings: [],
    mixed: [],
    undoCommands: [],
    resumeCommand: 'sluice upgrade sts/web',
  })
  expect(report).toMatchObject({ exitCode: code, resumeCommand: 'sluice upgrade sts/web' })
  expect(report.pods[0]).toMatchObject({ outcome, deadline, out })
  const colors = createColors(false)
  expect(finishedPod(pod, colors)).toContain(`: not in time [${deadline} deadline]${out ? ' (out of rotation)' : ''}`)
  const text = summary(report, colors).join('\n')
  expect(text).toContain(`${deadline} deadline${out ? ', out of rotation' : ''}): not in time`)
  expect(text.split('not in time'), 'the cause stands in the summary once').toHaveLength(2)
})
