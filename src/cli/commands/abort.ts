import type { Command } from 'commander'
import type { AbortFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addColorFlag, addHomeDeadlines, addOrderFlags, addOutputFlags, given } from './flag-groups.ts'

export function registerAbort(program: Command, context: CommandContext): void {
  const command = program
    .command('abort')
    .summary('end a run: what is not patched is put back, what is comes home, the template is as before')
    .description(
      'Ends the run that is open: starts no new pod, puts back what is drained and not patched, brings home what is patched, ' +
        'and gives the template back the images that it had before the run. Where the process of the run is alive, here or ' +
        'elsewhere, it does so; where it is dead, this one does.',
    )
  addOrderFlags(command)
    .optionsGroup('This abort:')
    .option('--no-wait', 'leave the order with the run, and do not wait for its end')
    .option('--grace <duration>', 'after an interrupt, how long patched pods may take to come home', '5s')
    .optionsGroup('Where the process of the run is dead, in place of the config:')
    .option('--config <file>', 'config file (default: $SLUICE_CONFIG, else sluice.yaml)', given)
  addHomeDeadlines(command)
  addColorFlag(addOutputFlags(command, ['text', 'json', 'jsonl']))
  addClusterFlags(command)
  command
    .addHelpText(
      'after',
      `
Examples:
  ${context.invocation.program} abort statefulset/web
  ${context.invocation.program} abort -l app=web --no-wait

Exit codes:
  0 no run is open any more, or, with --no-wait, the order is given
  1 a pod stays out of rotation, or the former template or the end of the record is not taken
  2 wrong arguments or config   3 the cluster says no
  4 deadline, resumable         7 the template was edited, or another run came
  8 a person has to look        130, 143 interrupted: the order stands, the same command goes on
The run that is aborted exits with 6.
`,
    )
    .action(async (args: string[], flags: AbortFlags) => {
      const { abortAction } = await import('../actions/abort-action.ts')
      context.onDone(await abortAction(args, flags, context))
    })
}
