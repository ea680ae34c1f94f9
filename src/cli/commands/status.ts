import type { Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { StatusFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addColorFlag, addOutputFlags } from './flag-groups.ts'

export function registerStatus(program: Command, context: CommandContext): void {
  const command = program
    .command('status')
    .summary('show what is open: owners, runs, pods half done')
    .description('Shows what sluice has left in the cluster: who owns a workload, its runs, and pods that are half done.')
    .argument('[workloads...]', 'TYPE/NAME (default: every workload of the namespace that sluice has worked on)')
  addColorFlag(addOutputFlags(command, ['text', 'json']))
  addClusterFlags(command)
  command
    .addHelpText(
      'after',
      `
Examples:
  ${context.invocation.program} status
  ${context.invocation.program} status statefulset/web -o json

Exit codes:
  0 nothing is open    2 wrong arguments    3 the cluster cannot be read
  4 a run is at work, or can be gone on with    8 a person has to look
`,
    )
    .action(async (args: string[], flags: StatusFlags) => {
      const { statusAction } = await import('../actions/status-action.ts')
      context.onDone(await statusAction(args, flags, context), EXIT.failed)
    })
}
