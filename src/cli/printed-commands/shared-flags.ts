import { delimiter } from 'node:path'
import type { ClusterFlags, RequestFlags } from '../arguments/flags.ts'

/** The flags that an undo or a repair takes over from the command: the place, and the permissions. */
export type SharedFlags = ClusterFlags &
  Pick<RequestFlags, 'config' | 'acceptTemplateDrift' | 'allowUnbalanced' | 'retiredLoadBalancer'>

/**
 * The flags that lead to the cluster, as words of a command; kubectl takes them too. Values from the environment are written out, since
 * the command may be pasted elsewhere.
 */
export function clusterWords(flags: Omit<ClusterFlags, 'namespace' | 'requestTimeout'>, env: NodeJS.ProcessEnv): string[] {
  return words([
    ['--context', flags.context],
    ['--kubeconfig', flags.kubeconfig ?? namedKubeconfig(env)],
    ['--cluster', flags.cluster],
    ['--user', flags.user],
    ['--as', flags.as],
    ...(flags.asGroup ?? []).map((group): [string, string] => ['--as-group', group]),
    ['--as-uid', flags.asUid],
  ])
}

/** The config, as words of a command. */
export function configWords({ config }: Pick<RequestFlags, 'config'>, env: NodeJS.ProcessEnv): string[] {
  return words([['--config', config ?? namedConfig(env)]])
}

/** The shared flags, as words of a command. */
export function sharedWords(flags: SharedFlags, env: NodeJS.ProcessEnv): string[] {
  return [
    ...words([['--namespace', flags.namespace]]),
    ...clusterWords(flags, env),
    ...words([['--request-timeout', flags.requestTimeout]]),
    ...configWords(flags, env),
    ...(flags.acceptTemplateDrift ? ['--accept-template-drift'] : []),
    ...(flags.allowUnbalanced ? ['--allow-unbalanced'] : []),
    ...words((flags.retiredLoadBalancer ?? []).map((name) => ['--retired-load-balancer', name])),
  ]
}

/** The files that the environment named in place of flags, as words of a command. */
export function environmentWords(
  flags: Pick<ClusterFlags, 'kubeconfig'> & Pick<RequestFlags, 'config'>,
  env: NodeJS.ProcessEnv,
): string[] {
  return words([
    ['--kubeconfig', flags.kubeconfig === undefined ? namedKubeconfig(env) : undefined],
    ['--config', flags.config === undefined ? namedConfig(env) : undefined],
  ])
}

function namedConfig(env: NodeJS.ProcessEnv): string | undefined {
  return env['SLUICE_CONFIG'] || undefined
}

/** Returns the kubeconfig of the environment where it is one file. Several files are merged, and a flag names one alone. */
function namedKubeconfig(env: NodeJS.ProcessEnv): string | undefined {
  const files = new Set((env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== ''))
  return files.size === 1 ? [...files][0] : undefined
}

function words(values: readonly (readonly [flag: string, value: string | undefined])[]): string[] {
  return values.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]))
}
