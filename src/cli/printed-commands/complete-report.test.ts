import { expect, test } from 'vitest'
import { buildReport } from '../../report/build-report.ts'
import { sampleRecord } from '../../report/testing/sample-record.ts'
import { completeCommands } from './complete-commands.ts'
import { completeReport } from './complete-report.ts'

test('what a kept report tells a person to type reaches the cluster that it was read from', () => {
  const report = buildReport(sampleRecord({ pods: 2, window: 1 }))
  const instructions = 'or say so:\n  sluice resolve pod/web-1 -n shop --traffic in'
  const kept = { ...report, pods: report.pods.map((pod) => ({ ...pod, instructions })) }
  const { pods, ...rest } = completeReport(kept, (text) => completeCommands(text, { context: 'prod' }, 'kubectl sluice', {}))
  expect(pods.length).toBeGreaterThan(0)
  for (const pod of pods)
    expect(pod.instructions).toBe('or say so:\n  kubectl sluice resolve --context prod pod/web-1 -n shop --traffic in')
  expect({ ...rest, pods: report.pods }).toEqual(report)
})
