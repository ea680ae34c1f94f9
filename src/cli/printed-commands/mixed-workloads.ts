import type { RunResult } from '../../engine/events.ts'
import type { Invocation } from '../invocation.ts'
import type { MixedReport } from '../output/run-report.ts'
import type { SharedFlags } from './shared-flags.ts'
import { templateCommand } from './template-command.ts'

/** Each workload that an abort has left on different images, with the command that brings its pods to its template. */
export function mixedWorkloads(
  { mixed = [] }: RunResult,
  flags: SharedFlags,
  invocation: Pick<Invocation, 'program'>,
  env: NodeJS.ProcessEnv = {},
): MixedReport[] {
  return mixed.map((one) => ({ ...one, command: templateCommand(one.workload, flags, invocation, env) }))
}
