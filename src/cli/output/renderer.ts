import type { RunEvent } from '../../engine/events.ts'
import type { RunReport } from './run-report.ts'

/** Shows a run in progress, from its events alone. */
export interface Renderer {
  /** Takes each event, in order. */
  onEvent(event: RunEvent): void
  /** Shows a message of sluice itself at once, without tearing a table apart. */
  notice(text: string): void
  /** Ends the run. No event follows. */
  finish(report: RunReport): void
  /** Restores the terminal where the run could not begin, or broke off without a result. A call after `finish` is allowed. */
  close(): void
}
