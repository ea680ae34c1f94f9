/**
 * The comment that tells a line of sluice from one of an operator, and a written line from one that nginx has loaded: `# sluice 98234`.
 *
 * The number is a time: that at which the newest worker had started before the line was written (in the kernel's ticks since boot).
 * A worker that is older serves by the file as it was; the line is in effect once all that take requests are newer.
 */
export interface Mark {
  /** Absent where a person has written the mark: the line counts as loaded. */
  since: number | undefined
  /** Its line goes on in the next one, which was one line before. */
  isSplit: boolean
  from: number
  to: number
}

/** What follows it was a comment before, and begins as one. */
export const MARK = /^# sluice(?: (\d+))?(, line goes on)?(?=[ \t]*(?:#|$))/

export function formatMark(since: number, isSplit: boolean): string {
  return ` # sluice ${since}${isSplit ? ', line goes on\n' : ''}`
}
