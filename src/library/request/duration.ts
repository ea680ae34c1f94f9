import { z } from 'zod'
import { PROGRAM } from '../../config/wording.ts'

/** The maximum delay of `setTimeout`. */
const LONGEST_MS = 2 ** 31 - 1

/** A duration in whole milliseconds. */
export function duration(atLeastMs: number): z.ZodType<number> {
  const error = ({ input }: { input?: unknown }): string =>
    `${PROGRAM.show(input)} is no duration\ngive whole milliseconds, from ${atLeastMs} to ${LONGEST_MS}`
  return z.int({ error }).min(atLeastMs, { error }).max(LONGEST_MS, { error })
}
