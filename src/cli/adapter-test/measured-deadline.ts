/** The deadline of a call without an answer, from the duration of a call with one. */
import type { MakePartialBed } from '../../../adapters/conformance/bed.ts'

const TIMES = 10
const SHORTEST_MS = 1_000
const LONGEST_MS = 10_000
const READ_WITHIN_MS = 30_000

/**
 * Reads the list twice, and measures the second read: a program takes long to start, and a server does not. Throws the error of the
 * adapter where the list cannot be read.
 */
export async function withMeasuredDeadline(makeBed: MakePartialBed): Promise<MakePartialBed> {
  const bed = await makeBed({ servers: 3 })
  let tookMs: number
  try {
    const adapter = bed.adapter()
    const read = () => adapter.resolve(bed.endpoints, { deadlineMs: READ_WITHIN_MS, assertLive: () => {} })
    await read()
    const beganAt = performance.now()
    await read()
    tookMs = performance.now() - beganAt
  } finally {
    await bed.close()
  }
  const shortDeadlineMs = Math.min(Math.max(tookMs * TIMES, SHORTEST_MS), LONGEST_MS)
  return async (options) => ({ shortDeadlineMs, ...(await makeBed(options)) })
}
