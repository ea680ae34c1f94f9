import type { PrintedCommand } from './printed-command.ts'

/**
 * The purpose of a command after a run:
 * - `backToTemplate`: brings all pods of `workload` to its template, which an abort has given its former images
 * - `undo`: takes the run back, with a command for each workload
 * - `followTemplate`: brings the pods of a workload to its edited template
 * - `end`: ends the run in place of `goOn`
 * - `liftPause`: lifts the pause of the run; until then, `goOn` only waits
 * - `goOn`: continues the run where it stopped
 */
export type NextPurpose = 'backToTemplate' | 'undo' | 'followTemplate' | 'end' | 'liftPause' | 'goOn'

export interface NextCommand extends PrintedCommand {
  to: NextPurpose
  /** The workload of `backToTemplate`, such as `statefulset/web`. */
  workload?: string
}
