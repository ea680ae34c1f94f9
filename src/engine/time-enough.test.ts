import { expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../adapters/conformance/memory-adapter.ts'
import { assertTimeEnough } from './time-enough.ts'

function asserting(
  capabilities: { longestJobMs?: number; longestEmptyingMs?: number; settleMs?: number },
  deadlines: [drain: number, restore: number],
  settleMs?: number,
) {
  const adapter = createMemoryAdapter(createMemoryBalancer([]), { capabilities })
  const [drainDeadlineMs, restoreDeadlineMs] = deadlines
  const edge = { name: 'edge', adapterName: 'memory', adapter, port: 80 }
  return () => assertTimeEnough([edge], { drainDeadlineMs, restoreDeadlineMs, ...(settleMs === undefined ? {} : { settleMs }) })
}

test.each([{ longestJobMs: 30_000 }, { longestEmptyingMs: 30_000 }])('no deadline is as short as %j', (jobs) => {
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

test('the deadline of a drain is longer than new requests may come after it, unless the config has a time of its own', () => {
  expect(asserting({ settleMs: 60_000 }, [60_000, 60_000])).toThrow(
    expect.objectContaining({
      reason: {
        code: 'deadline-shorter-than-settle',
        deadline: 'drain.deadline',
        deadlineMs: 60_000,
        loadBalancer: 'edge',
        settleMs: 60_000,
      },
    }),
  )
  expect(asserting({ settleMs: 60_000 }, [61_000, 1_000])).not.toThrow()
  expect(asserting({ settleMs: 60_000 }, [60_000, 1_000], 5_000)).not.toThrow()
})
