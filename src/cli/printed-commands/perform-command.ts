import type { Invocation } from '../invocation.ts'
import type { PrintedCommand } from './printed-command.ts'
import { resumeCommand } from './resume-command.ts'
import type { SharedFlags } from './shared-flags.ts'

/** The command that carries a plan out: the upgrade for `plan`, and the command without `--dry-run` for a dry run. */
export function performCommand(
  { program, args }: Invocation,
  flags: Pick<SharedFlags, 'config' | 'kubeconfig'>,
  env: NodeJS.ProcessEnv,
  undone?: string,
): PrintedCommand {
  const verb = args.findIndex((word) => word !== '--')
  const performing = args
    .map((word, index) => (index === verb && word === 'plan' ? 'upgrade' : word))
    .filter((word) => word !== '--dry-run')
  return resumeCommand({ program, args: performing }, flags, env, undone)
}
