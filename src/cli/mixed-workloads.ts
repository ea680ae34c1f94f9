import type { RunResult } from '../engine/events.ts'
import type { Invocation } from './invocation.ts'
import type { MixedReport } from './output/run-report.ts'
import { sharedWords, type SharedFlags } from './shared-flags.ts'
import { shellQuote } from './shell-quote.ts'

/** Each workload that an abort has left on different images, with the command that brings its pods to its template. */
export function mixedWorkloads(
  { mixed = [] }: RunResult,
  flags: SharedFlags,
  { program }: Pick<Invocation, 'program'>,
  env: NodeJS.ProcessEnv = {},
): MixedReport[] {
  const shared = sharedWords(flags, env)
  return mixed.map((one) => ({ ...one, command: `${program} ${shellQuote(['upgrade', one.workload, ...shared])}` }))
}
