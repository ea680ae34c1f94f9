import type { PrintedCommand } from './printed-command.ts'

/**
 * What there is to run after a run:
 * - `backToTemplate`: brings all pods of `workload` to its template, which an abort has given its former images
 * - `undo`: takes the run back, for one workload each
 * - `followTemplate`: brings the pods of a workload to its template as somebody has edited it
 * - `end`: ends the run in place of going on with it
 * - `liftPause`: lifts the pause of the run: until then `goOn` only waits
 * - `goOn`: goes on where the run stopped
 */
export type NextPurpose = 'backToTemplate' | 'undo' | 'followTemplate' | 'end' | 'liftPause' | 'goOn'

export interface NextCommand extends PrintedCommand {
  to: NextPurpose
  /** Of `backToTemplate`: such as `statefulset/web`. */
  workload?: string
}
