import type { Command } from 'commander'
import type { OrderFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addOrderFlags, addOutputFlags } from './flag-groups.ts'

export function registerPause(program: Command, context: CommandContext): void {
  const command = program
    .command('pause')
    .summary('start no new pod of a run until resume')
    .description(
      'Pauses the run that is open: no new pod is started, those under way come home, and the run waits for `resume` or `abort`. ' +
        'It holds for the same command again, too, where the process dies meanwhile.',
    )
  addOrderFlags(command)
  addOutputFlags(command, ['text', 'json'])
  addClusterFlags(command)
  command
    .addHelpText(
      'after',
      `
Examples:
  ${context.invocation.program} pause statefulset/web

Exit codes:
  0 done    2 wrong arguments    3 no run is open    4 it is not known whether the order stands
  7 the run is being aborted
`,
    )
    .action(async (args: string[], flags: OrderFlags) => {
      const { pauseAction } = await import('../actions/pause-actions.ts')
      context.onDone(await pauseAction(args, flags, context))
    })
}
