import type { Reason } from '../../reasons/reason.ts'
import type { Writing } from './writing.ts'

/** What to do about each kind of what no open run tells of; a run brings pods home, and mends no record. */
export function unrecordedWords(unrecorded: readonly Reason[], write: Writing): string {
  const isAny = (code: Reason['code']): boolean => unrecorded.some((one) => one.code === code)
  const ways = [
    ...(isAny('half-done-without-record') ? ['sluice upgrade brings such pods to their end'] : []),
    ...(isAny('record-of-run-unreadable') ? ['sluice status says what to do about a record that cannot be read'] : []),
  ]
  return `${unrecorded.map((one) => write.reason(one)).join('; ')}: ${ways.join(', and ')}`
}
