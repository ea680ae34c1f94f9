import { createWriting } from '../../report/words/words.ts'
import { shellForm } from '../../report/words/shell.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { ClusterFlags, RequestFlags } from '../arguments/flags.ts'
import type { Invocation } from '../invocation.ts'
import { clusterWords, configWords } from './shared-flags.ts'

/**
 * How reasons and commands are written for this command line: printed commands get the way to its cluster, its config, and the name that
 * this program was called by. Pasted as they are, they must not reach another cluster.
 */
export function writingFor(
  { flags, invocation }: { flags: ClusterFlags & Pick<RequestFlags, 'config'>; invocation: Pick<Invocation, 'program'> },
  env: NodeJS.ProcessEnv,
): Writing {
  const way = { program: invocation.program, cluster: clusterWords(flags, env), config: configWords(flags, env) }
  return createWriting((command) => shellForm(command, way))
}
