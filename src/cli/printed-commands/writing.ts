import { createWriting } from '../../report/words/words.ts'
import { shellForm } from '../../report/words/shell.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { ClusterFlags, RequestFlags } from '../arguments/flags.ts'
import type { Invocation } from '../invocation.ts'
import { clusterWords, configWords } from './shared-flags.ts'

/**
 * Writes reasons and commands for this command line. Printed commands name its cluster, its config and this program, so that a pasted
 * command reaches no other cluster.
 */
export function writingFor(
  { flags, invocation }: { flags: ClusterFlags & Pick<RequestFlags, 'config'>; invocation: Pick<Invocation, 'program'> },
  env: NodeJS.ProcessEnv,
): Writing {
  const way = { program: invocation.program, cluster: clusterWords(flags, env), config: configWords(flags, env) }
  return createWriting((command) => shellForm(command, way))
}
