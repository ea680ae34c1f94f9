import { expect, test } from 'vitest'
import { said } from '../../cli/testing/samples.ts'
import { buildReport } from '../build-report.ts'
import { sampleRecord } from '../testing/sample-record.ts'
import { createWriting } from '../words/words.ts'
import { reportPage } from './page.ts'

test('a person who has resolved a pod is among those that had the run, and is not who has brought it to its end', () => {
  const record = sampleRecord({ pods: 1, window: 1 })
  const word = {
    ...record.processes[0]!,
    by: 'ann_1',
    epoch: 2,
    outcome: 'resolved',
    reason: said('web-0: a person has said so'),
  }
  const page = reportPage(buildReport({ ...record, processes: [...record.processes, word] }), createWriting())
  expect(page).toContain('ci-runner-7_4711_tqjtfp (epoch 1)')
  expect(page).not.toContain('ann_1 (epoch 2)')
  expect(page).toMatch(/ann_1[\s\S]*A person has looked/)
})
