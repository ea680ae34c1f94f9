import type { Command } from 'commander'
import type { OrderFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addOrderFlags, addOutputFlags } from './flag-groups.ts'

export function registerResume(program: Command, context: CommandContext): void {
  const command = program
    .command('resume')
    .summary('go on with a run that is paused')
    .description(
      'Lifts the pause: the process of the run goes on within seconds. Where it is dead, the same upgrade or undo command goes on.',
    )
  addOrderFlags(command)
  addOutputFlags(command, ['text', 'json'])
  addClusterFlags(command)
  command
    .addHelpText(
      'after',
      `
Examples:
  ${context.invocation.program} resume statefulset/web

Exit codes:
  0 done    2 wrong arguments    3 no run is paused    4 it is not known whether the pause is lifted
  7 the run is being aborted
`,
    )
    .action(async (args: string[], flags: OrderFlags) => {
      const { resumeAction } = await import('../actions/pause-actions.ts')
      context.onDone(await resumeAction(args, flags, context))
    })
}
