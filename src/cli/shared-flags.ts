import type { ClusterFlags, RequestFlags } from './flags.ts'

/** What a command that takes a run back, or mends what it has left, has in common with it: where, and what is allowed. */
export type SharedFlags = ClusterFlags & Pick<RequestFlags, 'config' | 'acceptTemplateDrift' | 'allowUnbalanced'>

/** As words of a command. As in resumeCommand, a config that the environment named is written out. */
export function sharedWords(flags: SharedFlags, env: NodeJS.ProcessEnv): string[] {
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
