import { expect, test } from 'vitest'
import type { PodResult, RunEventBody } from '../../engine/events.ts'
import { worstOutcome } from '../../engine/outcome.ts'
import { createWriting } from '../../report/words/words.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { goOn, at, podResult, runResult, samplePlan } from '../testing/samples.ts'
import { createColors } from './color.ts'
import { createLines } from './lines.ts'
import { createLiveTable } from './live-table.ts'
import type { Renderer } from './renderer.ts'
import { runReport } from './run-report.ts'

/* The cause of a failed pod appears once in the output, at its end, with and without a terminal. */

const CAUSE = 'container app CrashLoopBackOff: back-off 10s'
const because = { code: 'container-waiting', container: 'app', waiting: 'CrashLoopBackOff', said: 'back-off 10s' } as const
const SHORT = '✗ web-1 failed: no proof of the restart in time [restart deadline] (out of rotation)'

const renderers: Record<string, (write: (text: string) => void) => Renderer> = {
  'without a terminal': (write) => createLines({ out: { write }, err: { write }, ...shared() }),
  'at a terminal': (write) =>
    createLiveTable({ out: { columns: 200, rows: 24, backlog: 0, write }, err: { write }, ...shared() }),
}

function shared() {
  return { clock: createFakeClock(), colors: createColors(false), write: createWriting() }
}

function outputOf(create: (typeof renderers)[string], pod: PodResult): string[] {
  let text = ''
  const renderer = create((more) => void (text += more))
  const emit = (body: RunEventBody): void => renderer.onEvent(at(0, body))
  emit({ type: 'started', run: 'r7', epoch: 3, resumed: false, pods: [{ uid: pod.uid, pod: pod.pod }] })
  emit({ type: 'podFinished', result: pod })
  const result = runResult({ ...worstOutcome([pod]), pods: [pod] })
  renderer.finish(
    runReport({
      result,
      plan: samplePlan,
      exitCode: 1,
      startedAt: '',
      finishedAt: '',
      warnings: [],
      next: [goOn('sluice upgrade sts/web')],
    }),
  )
  return text.split('\n')
}

const failed = podResult({
  pod: 'web-1',
  outcome: 'failed',
  traffic: 'out',
  deadline: 'restart',
  reason: { code: 'restart-not-proven', because },
})

test.each(Object.keys(renderers))('%s', (name) => {
  const lines = outputOf(renderers[name]!, failed)
  expect(lines.filter((line) => line.includes(CAUSE))).toEqual([
    `web-1 (failed, restart deadline, out of rotation): no proof of the restart in time: ${CAUSE}`,
  ])
  expect(lines.some((line) => line.endsWith(SHORT))).toBe(true)
})

test.each(Object.keys(renderers))('control: a pod that has no section at the end has all of it in its line, %s', (name) => {
  const reason = { code: 'record-not-taken-over', because } as const
  const lines = outputOf(renderers[name]!, podResult({ pod: 'web-1', outcome: 'unchanged', reason }))
  expect(
    lines.some((line) => line.endsWith(`- web-1 unchanged: the record of an earlier owner could not be taken over: ${CAUSE}`)),
  ).toBe(true)
})
