import type { Reason } from '../../reasons/reason.ts'
import type { Writing } from './writing.ts'

/** The problem without its cause and its facts, which the end of the output contains. */
export function shortWords(reason: Reason, write: Writing): string {
  switch (reason.code) {
    case 'failed-and-put-back':
      return shortWords(reason.failure, write)
    case 'restart-not-proven':
      return `${before(reason.after, write)}no proof of the restart in time`
    case 'not-ready-in-time':
      return `${before(reason.after, write)}not ready in time`
    case 'not-empty':
      return 'not empty in time'
    case 'not-read-as-out':
      return `${before(reason.after, write)}it was restarted, and could not be read as out in time`
    case 'back-before-patch':
      return 'it was put back while its images could not be patched'
    case 'not-fit-for-restore':
      return 'it was not ready to be put back in time, and stays out of rotation'
    case 'reclaimed':
      return 'an operator had it out of rotation in part, and has put it back meanwhile'
    case 'bug':
      return 'a bug in sluice'
    default:
      return write.reason(withoutCause(reason))
  }
}

function before(failure: Reason | undefined, write: Writing): string {
  return failure === undefined ? '' : `${shortWords(failure, write)}; and back on its former images: `
}

function withoutCause(reason: Reason): Reason {
  if (!('because' in reason)) return reason
  const { because: _, ...rest } = reason
  return rest as Reason
}
