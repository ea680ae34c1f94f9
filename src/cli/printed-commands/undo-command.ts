import type { PodResult, RunResult } from '../../engine/events.ts'
import { hasFailedAndGone } from '../../engine/outcome.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Invocation } from '../invocation.ts'
import { displayName } from '../../pods/workload-id.ts'
import { isPod } from '../../workloads/kinds/pod.ts'
import { sharedWords, type SharedFlags } from './shared-flags.ts'
import { type PrintedCommand, printedCommand } from './printed-command.ts'

/**
 * The commands that take back a run in which a pod failed, or that an interrupt left with a pod out of rotation: one for each workload.
 * A run with any other end has none. Deadlines and the window are not repeated, since values that were too short for the new images
 * would be too short for the old images.
 */
export function undoCommands(
  { outcome, run, pods, mixed = [] }: RunResult,
  { workloads, undoes }: Plan,
  flags: SharedFlags,
  invocation: Pick<Invocation, 'program'>,
  env: NodeJS.ProcessEnv = {},
): PrintedCommand[] {
  const isStuck = (pod: PodResult): boolean =>
    pod.outcome === 'failed' || hasFailedAndGone(pod) || (pod.outcome === 'interrupted' && pod.traffic === 'out')
  const stuck = pods.filter(isStuck).map(({ pod }) => pod)
  if (run === undefined || (outcome !== 'failed' && outcome !== 'interrupted') || stuck.length === 0) return []
  // An undo of an undo would put the failing images in again. After an abort, the template has its former images already.
  if (undoes !== undefined || mixed.length > 0) return []
  const shared = sharedWords(flags, env)
  return workloads
    .filter((one) => !isPod(one) || stuck.includes(one.name))
    .map((one) => printedCommand(invocation, ['undo', displayName(one), '--run', run, ...shared]))
}
