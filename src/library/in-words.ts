import { RunError } from '../engine/errors.ts'
import { reasonWords } from '../report/words/words.ts'
import { WorkloadError } from '../workloads/errors.ts'

/** How far causes are followed, which may also be those of somebody else, and lead in a circle. */
const DEEPEST = 10

/**
 * What was thrown, where an error of the engine says its reason in English, as do its causes: their own message is the code of the
 * reason.
 */
export function inWords(error: unknown): unknown {
  let one = error
  for (let depth = 0; depth < DEEPEST && one instanceof Error; depth += 1) {
    if (isReasoned(one) && one.message === one.reason.code) one.message = reasonWords(one.reason)
    one = one.cause
  }
  return error
}

function isReasoned(error: Error): error is RunError | WorkloadError {
  return error instanceof RunError || error instanceof WorkloadError
}
