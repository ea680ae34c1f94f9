import type { Invocation } from '../invocation.ts'
import { displayName, type WorkloadId } from '../../pods/workload-id.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import { isTemplateWritten } from '../../workloads/kinds/kind.ts'
import { sharedWords, type SharedFlags } from './shared-flags.ts'
import { type PrintedCommand, printedCommand } from './printed-command.ts'

/** The command that brings the pods of a workload, such as `statefulset/web`, to its present template. */
export function templateCommand(
  workload: string,
  flags: SharedFlags,
  invocation: Pick<Invocation, 'program'>,
  env: NodeJS.ProcessEnv = {},
): PrintedCommand {
  return printedCommand(invocation, ['upgrade', workload, ...sharedWords(flags, env)])
}

/**
 * The template commands of these workloads, without repetition. A Deployment, whose template runs do not change, and a bare pod have
 * none.
 */
export function templateCommands(
  workloads: readonly WorkloadId[],
  ...where: [flags: SharedFlags, invocation: Pick<Invocation, 'program'>, env?: NodeJS.ProcessEnv]
): PrintedCommand[] {
  const names = workloads.flatMap((one) => {
    const kind = KINDS.kindOf(one)
    return kind !== undefined && isTemplateWritten(kind) ? [displayName(one)] : []
  })
  return [...new Set(names)].map((name) => templateCommand(name, ...where))
}
