/**
 * The comment that marks a line of sluice, as opposed to one of an operator, and tells whether nginx has loaded it: `# sluice
 * 1f2e3d4c.98234`.
 *
 * The number is the start time of the newest worker before the line was written. An older worker serves the former file. The line is in
 * effect when all workers that accept requests are newer.
 */
export interface Mark {
  /** The time of the mark. Absent if a person wrote the mark: the line then counts as loaded. */
  since: BootTime | undefined
  /** True if the mark has split a line in two. The rest of the line is in the next line. */
  isSplit: boolean
  from: number
  to: number
}

/** A time on one host until its next boot: the kernel ticks since the boot, and an id of the boot. */
export interface BootTime {
  boot: string
  ticks: number
}

/** The pattern of a mark. Any text after it was a comment before, and begins as one. */
export const MARK = /^# sluice(?: ([0-9a-f]{8})\.(\d+))?(, line goes on)?(?=[ \t]*(?:#|$))/

export function formatMark({ boot, ticks }: BootTime, isSplit: boolean): string {
  return ` # sluice ${boot}.${ticks}${isSplit ? ', line goes on\n' : ''}`
}
