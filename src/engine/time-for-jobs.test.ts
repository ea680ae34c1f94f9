import { expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../adapters/conformance/memory-adapter.ts'
import { assertTimeForJobs } from './time-for-jobs.ts'

function asserting(capabilities: { longestJobMs?: number }, deadlines: [drain: number, restore: number]) {
  const adapter = createMemoryAdapter(createMemoryBalancer([]), { capabilities })
  const [drainDeadlineMs, restoreDeadlineMs] = deadlines
  const edge = { name: 'edge', adapterName: 'memory', adapter, port: 80 }
  return () => assertTimeForJobs([edge], { drainDeadlineMs, restoreDeadlineMs })
}

test('no deadline is as short as a job may take', () => {
  const jobs = { longestJobMs: 30_000 }
  expect(asserting(jobs, [30_000, 60_000])).toThrow(
    expect.objectContaining({
      reason: {
        code: 'deadline-shorter-than-job',
        deadline: 'drain.deadline',
        deadlineMs: 30_000,
        loadBalancer: 'edge',
        longestMs: 30_000,
      },
    }),
  )
  expect(asserting(jobs, [60_000, 20_000])).toThrow(
    expect.objectContaining({
      reason: expect.objectContaining({ deadline: 'deadlines.restore', deadlineMs: 20_000 }) as unknown,
    }),
  )
  expect(asserting(jobs, [31_000, 31_000])).not.toThrow()
})

test('where changes are no jobs, a deadline is as short as somebody likes', () => {
  expect(asserting({}, [1_000, 1_000])).not.toThrow()
})
