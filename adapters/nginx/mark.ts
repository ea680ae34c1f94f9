/**
 * The comment that tells a line of sluice from one of an operator, and a written line from one that nginx has loaded: `# sluice 1f2e3d4c.98234`.
 *
 * That is a time: when the newest worker had started before the line was written. A worker that is older serves by the file as it was;
 * the line is in effect once all that take requests are newer.
 */
export interface Mark {
  /** Absent where a person has written the mark: the line counts as loaded. */
  since: BootTime | undefined
  /** Its line goes on in the next one, which was one line before. */
  isSplit: boolean
  from: number
  to: number
}

/** Of one host, until it is started anew: ticks of the kernel since its boot, and what the boot is known by. */
export interface BootTime {
  boot: string
  ticks: number
}

/** What follows it was a comment before, and begins as one. */
export const MARK = /^# sluice(?: ([0-9a-f]{8})\.(\d+))?(, line goes on)?(?=[ \t]*(?:#|$))/

export function formatMark({ boot, ticks }: BootTime, isSplit: boolean): string {
  return ` # sluice ${boot}.${ticks}${isSplit ? ', line goes on\n' : ''}`
}
