import type { ClusterFlags } from './flags.ts'
import { clusterWords } from './shared-flags.ts'
import { shellQuote } from './shell-quote.ts'

/**
 * The commands in what the engine says name the namespace alone, as they are kept in the cluster too. Here they get the way to
 * it, and the name that this program was called by: pasted as they are, they must not reach another cluster.
 */
export function completeCommands(text: string, flags: ClusterFlags, program = 'sluice'): string {
  const words = clusterWords(flags)
  const way = words.length === 0 ? '' : `${shellQuote(words)} `
  return text
    .replaceAll('kubectl -n ', () => `kubectl ${way}-n `)
    .replaceAll('sluice resolve pod/', () => `${program} resolve ${way}pod/`)
}
