import type { RunEvent } from '../../engine/events.ts'
import type { RunReport } from './run-report.ts'

/** Shows a run while it goes on, from its events alone. */
export interface Renderer {
  /** Each event, in order. */
  onEvent(event: RunEvent): void
  /** What sluice itself has to say meanwhile, at once, without tearing a table apart. */
  notice(text: string): void
  /** The run is over. Nothing is called after this. */
  finish(report: RunReport): void
  /** The run could not begin, or broke off without a result: puts the terminal right again. Also after `finish`. */
  close(): void
}
