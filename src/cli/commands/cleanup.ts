import type { Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { CleanupFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addOutputFlags } from './flag-groups.ts'

export function registerCleanup(program: Command, context: CommandContext): void {
  const command = program
    .command('cleanup')
    .summary('remove records that no run needs any more')
    .description(
      'Removes the records of finished runs. Whatever a run could still need stays, and is named with the reason; ' +
        'what is removed can be neither undone nor reported any more.',
    )
    .argument('[workloads...]', 'TYPE/NAME (default: every workload of the namespace that sluice has worked on)')
    .option('--dry-run', 'say what would be removed, and remove nothing')
  addOutputFlags(command, ['text', 'json'])
  addClusterFlags(command)
  command
    .addHelpText(
      'after',
      `
Examples:
  ${context.invocation.program} cleanup --dry-run
  ${context.invocation.program} cleanup statefulset/web

Exit codes:
  0 done, also where records were kept    2 wrong arguments
  3 a workload that is not there and of which nothing is on record, or the cluster says no
`,
    )
    .action(async (args: string[], flags: CleanupFlags) => {
      const { cleanupAction } = await import('../actions/cleanup-action.ts')
      context.onDone(await cleanupAction(args, flags, context), flags.dryRun ? EXIT.failed : undefined)
    })
}
