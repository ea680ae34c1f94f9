import type { ClusterFlags, RequestFlags } from '../arguments/flags.ts'
import type { Invocation } from '../invocation.ts'
import { clusterWords, configWords } from './shared-flags.ts'
import { shellQuote } from './shell-quote.ts'

/** Of kubectl those that name the namespace, before the verb or after it. */
const KUBECTL = /kubectl (?=(?:[a-z]+ \S+ \S+ )?-n )/g
const RESOLVE = /sluice resolve pod\/([\w.-]*\w)( -n \S+)?/g
const RUN = /sluice (upgrade|undo) ([a-z][a-z0-9.-]*\/[\w.-]*\w)( --run \w+)?/g

type Flags = ClusterFlags & Pick<RequestFlags, 'config'>

/**
 * The commands in what the engine says name the namespace at most, as they are kept in the cluster too. Here they get the way to
 * it, and the name that this program was called by: pasted as they are, they must not reach another cluster.
 */
export function completeCommands(text: string, flags: Flags, program: string, env: NodeJS.ProcessEnv): string {
  const words = clusterWords(flags, env)
  const way = words.length === 0 ? '' : `${shellQuote(words)} `
  const namespace = flags.namespace === undefined ? '' : ` ${shellQuote(['-n', flags.namespace])}`
  const world = shellQuote([...words, ...configWords(flags, env)])
  const behind = world === '' ? '' : ` ${world}`
  return text
    .replaceAll(KUBECTL, () => `kubectl ${way}`)
    .replaceAll(RESOLVE, (_, pod: string, named?: string) => `${program} resolve ${way}pod/${pod}${named ?? namespace}`)
    .replaceAll(RUN, (_, verb: string, name: string, run = '') => `${program} ${verb} ${name}${run}${namespace}${behind}`)
}

/** The same for a command and the namespace that it has come to, which is known once the cluster is. */
export function completeFor(
  { flags, invocation }: { flags: Flags; invocation: Pick<Invocation, 'program'> },
  env: NodeJS.ProcessEnv,
  namespace: () => string | undefined,
): (text: string) => string {
  return (text) => {
    const come = namespace()
    return completeCommands(text, come === undefined ? flags : { ...flags, namespace: come }, invocation.program, env)
  }
}
