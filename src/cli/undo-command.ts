import type { RunResult } from '../engine/events.ts'
import type { Plan } from '../plan/plan.ts'
import type { ClusterFlags, RequestFlags } from './flags.ts'
import type { Invocation } from './invocation.ts'
import { shellQuote } from './shell-quote.ts'

/** What a command that takes a run back has in common with the one that began it: where, and what is allowed. */
export type SharedFlags = ClusterFlags & Pick<RequestFlags, 'config' | 'acceptTemplateDrift' | 'allowUnbalanced'>

/**
 * The commands that take back a run in which a pod has failed, one for each workload; none after any other end. Deadlines
 * and the window stay behind: what was too short for the new images would be for the old ones.
 */
export function undoCommands(
  { outcome, run, pods }: RunResult,
  { workloads }: Plan,
  flags: SharedFlags,
  { program }: Pick<Invocation, 'program'>,
  env: NodeJS.ProcessEnv = {},
): string[] {
  const failed = pods.filter((pod) => pod.outcome === 'failed').map(({ pod }) => pod)
  if (outcome !== 'failed' || failed.length === 0) return []
  const shared = sharedWords(flags, env)
  return workloads
    .filter(({ kind, name }) => kind !== 'Pod' || failed.includes(name))
    .map(({ kind, name }) => `${program} ${shellQuote(['undo', `${kind.toLowerCase()}/${name}`, '--run', run, ...shared])}`)
}

/** As resumeCommand, a config that the environment named is written out. */
function sharedWords(flags: SharedFlags, env: NodeJS.ProcessEnv): string[] {
  const values: [string, string | undefined][] = [
    ['--namespace', flags.namespace],
    ['--context', flags.context],
    ['--kubeconfig', flags.kubeconfig],
    ['--cluster', flags.cluster],
    ['--user', flags.user],
    ['--as', flags.as],
    ...(flags.asGroup ?? []).map((group): [string, string] => ['--as-group', group]),
    ['--as-uid', flags.asUid],
    ['--request-timeout', flags.requestTimeout],
    ['--config', flags.config ?? (env['SLUICE_CONFIG'] || undefined)],
  ]
  return [
    ...values.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
    ...(flags.acceptTemplateDrift ? ['--accept-template-drift'] : []),
    ...(flags.allowUnbalanced ? ['--allow-unbalanced'] : []),
  ]
}
