import { RunError } from '../engine/errors.ts'
import { reasonWords } from '../report/words/words.ts'
import { WorkloadError } from '../workloads/errors.ts'

/** What was thrown, where an error of the engine says its reason in English: its own message is the code of the reason. */
export function inWords(error: unknown): unknown {
  const isReasoned = error instanceof RunError || error instanceof WorkloadError
  if (isReasoned && error.message === error.reason.code) error.message = reasonWords(error.reason)
  return error
}
