import type { PodResult, RunResult } from '../../engine/events.ts'
import { hasFailedAndGone } from '../../engine/outcome.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Invocation } from '../invocation.ts'
import { displayName } from '../../pods/workload-id.ts'
import { isPod } from '../../workloads/kinds/pod.ts'
import { sharedWords, type SharedFlags } from './shared-flags.ts'
import { type PrintedCommand, printedCommand } from './printed-command.ts'

/**
 * The commands that take back a run in which a pod has failed, or that an interrupt has left with one out of rotation, whose
 * images may be bad; one for each workload, and none after any other end. Deadlines and the window stay behind: what was too short for the new images would be for the old ones.
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
  // To take back the way back would put in what is being taken out; after an abort the template is back already.
  if (undoes !== undefined || mixed.length > 0) return []
  const shared = sharedWords(flags, env)
  return workloads
    .filter((one) => !isPod(one) || stuck.includes(one.name))
    .map((one) => printedCommand(invocation, ['undo', displayName(one), '--run', run, ...shared]))
}
