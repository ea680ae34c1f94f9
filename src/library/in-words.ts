import { RunError } from '../engine/errors.ts'
import { reasonWords } from '../report/words/words.ts'
import { WorkloadError } from '../workloads/errors.ts'

/** The limit for following causes. A cause may come from other code, and may form a cycle. */
const DEEPEST = 10

/** The error with messages in English. The message of an engine error is the code of its reason, and so are the messages of its causes. */
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
