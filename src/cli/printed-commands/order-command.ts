import { isBrought } from '../../engine/outcome.ts'
import type { RunResult } from '../../engine/events.ts'
import type { Plan } from '../../plan/plan.ts'
import { displayName } from '../../pods/workload-id.ts'
import type { Invocation } from '../invocation.ts'
import { sharedWords, type SharedFlags } from './shared-flags.ts'
import { type PrintedCommand, printedCommand } from './printed-command.ts'

type Where = [flags: SharedFlags, invocation: Pick<Invocation, 'program'>, env?: NodeJS.ProcessEnv]

/** The command that lifts the pause of a run. */
export function liftCommand(plan: Pick<Plan, 'workloads'>, ...[flags, invocation, env = {}]: Where): PrintedCommand {
  // `resume` takes no config, by a flag or by the environment.
  const { config: _, ...cluster } = flags
  const { SLUICE_CONFIG: __, ...others } = env
  return orderCommand('resume', plan, cluster, invocation, others)
}

/**
 * The command that ends a run which stays open although none of its pods is half done. Undefined for other runs. Without it, operators
 * overlook that the run is open.
 */
export function endCommand(
  { run, outcome, pods }: Pick<RunResult, 'run' | 'outcome' | 'pods'>,
  plan: Pick<Plan, 'workloads'>,
  ...[flags, invocation, env = {}]: Where
): PrintedCommand | undefined {
  const isOpen = run !== '' && (outcome === 'rolledBack' || outcome === 'deadline') && !pods.every(isBrought)
  return isOpen ? orderCommand('abort', plan, flags, invocation, env) : undefined
}

function orderCommand(
  order: 'resume' | 'abort',
  { workloads }: Pick<Plan, 'workloads'>,
  flags: SharedFlags,
  invocation: Pick<Invocation, 'program'>,
  env: NodeJS.ProcessEnv,
): PrintedCommand {
  const { acceptTemplateDrift: _, allowUnbalanced: __, retiredLoadBalancer: ___, ...taken } = flags
  return printedCommand(invocation, [order, ...workloads.map(displayName), ...sharedWords(taken, env)])
}
