import { expect, test } from 'vitest'
import type { DeadlineName, PodResult } from '../../engine/events.ts'
import { worstOutcome } from '../../engine/outcome.ts'
import { createWriting } from '../../report/words/words.ts'
import { exitCodeOf } from '../../library/exit-codes.ts'
import { goOn, podResult, runResult, said, samplePlan } from '../testing/samples.ts'
import { createColors } from './color.ts'
import { runReport } from './run-report.ts'
import { finishedPod } from './finished-pod.ts'
import { summary } from './summary.ts'

/* The name of a deadline appears in JSON and in text, and each deadline has its exit code. */

const ends: [deadline: DeadlineName, outcome: PodResult['outcome'], out: boolean, code: number][] = [
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
  const pod = podResult({ pod: 'web-1', outcome, traffic: out ? 'out' : 'asBefore', deadline, reason: said('not in time') })
  const others = [podResult({ pod: 'web-0', outcome: 'upgraded' }), podResult({ pod: 'web-2', outcome: 'unchanged' })]
  const result = runResult({ ...worstOutcome([pod, ...others]), pods: [pod, ...others] })
  const exitCode = exitCodeOf(result)
  expect(exitCode).toBe(code)
  const times = { startedAt: '', finishedAt: '' }
  const report = runReport({
    result,
    plan: samplePlan,
    exitCode,
    ...times,
    warnings: [],
    next: [goOn('sluice upgrade sts/web')],
  })
  expect(report).toMatchObject({ exitCode: code, next: [{ to: 'goOn', shell: 'sluice upgrade sts/web' }] })
  expect(report.pods[0]).toMatchObject({ outcome, deadline, traffic: out ? 'out' : 'asBefore' })
  const colors = createColors(false)
  const write = createWriting()
  expect(finishedPod(pod, colors, write)).toContain(`: not in time [${deadline} deadline]${out ? ' (out of rotation)' : ''}`)
  const text = summary(report, colors, write).join('\n')
  expect(text).toContain(`${deadline} deadline${out ? ', out of rotation' : ''}): not in time`)
  expect(text.split('not in time'), 'the cause stands in the summary once').toHaveLength(2)
})
