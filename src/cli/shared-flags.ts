import type { ClusterFlags, RequestFlags } from './flags.ts'

/** What a command that takes a run back, or mends what it has left, has in common with it: where, and what is allowed. */
export type SharedFlags = ClusterFlags & Pick<RequestFlags, 'config' | 'acceptTemplateDrift' | 'allowUnbalanced'>

/** The way to the cluster, as words of a command; kubectl takes the same. */
export function clusterWords(flags: Omit<ClusterFlags, 'namespace' | 'requestTimeout'>): string[] {
  return words([
    ['--context', flags.context],
    ['--kubeconfig', flags.kubeconfig],
    ['--cluster', flags.cluster],
    ['--user', flags.user],
    ['--as', flags.as],
    ...(flags.asGroup ?? []).map((group): [string, string] => ['--as-group', group]),
    ['--as-uid', flags.asUid],
  ])
}

/** As words of a command. As in resumeCommand, a config that the environment named is written out. */
export function sharedWords(flags: SharedFlags, env: NodeJS.ProcessEnv): string[] {
  return [
    ...words([['--namespace', flags.namespace]]),
    ...clusterWords(flags),
    ...words([
      ['--request-timeout', flags.requestTimeout],
      ['--config', flags.config ?? (env['SLUICE_CONFIG'] || undefined)],
    ]),
    ...(flags.acceptTemplateDrift ? ['--accept-template-drift'] : []),
    ...(flags.allowUnbalanced ? ['--allow-unbalanced'] : []),
  ]
}

function words(values: readonly (readonly [flag: string, value: string | undefined])[]): string[] {
  return values.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]))
}
