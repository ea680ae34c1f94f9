import { Option, type Command } from 'commander'
import type { ResolveFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addOutputFlags, collect } from './flag-groups.ts'

export function registerResolve(program: Command, context: CommandContext): void {
  const command = program
    .command('resolve')
    .summary('say what you have seen of a pod that needs an operator, so that a run can go on')
    .description(
      'Records what you have seen in the load balancers, where no run can know it. Then the command that needed an operator ' +
        'goes on. Nothing is sent to a load balancer; where one can be read, what it says counts more than the record.',
    )
    .argument('<pod>', 'NAME or pod/NAME, also of a pod that is gone')
    .optionsGroup('What you have seen:')
    .addOption(
      new Option(
        '--traffic <in|out>',
        'in: it is in rotation as it should be, nothing is left to do. out: it gets no requests, and the next run goes on and puts it back',
      )
        .choices(['in', 'out'])
        .makeOptionMandatory(),
    )
    .option('--load-balancer <name>', 'in this one alone, repeatable (default: in all that have it)', collect)
    .option('--live', 'of the pod that is there alone, where something is left of one of its name that is gone')
    .addOption(
      new Option('--gone', 'of what is left of pods of that name that are gone, and not of the one that is there').conflicts(
        'live',
      ),
    )
  addOutputFlags(command, ['text', 'json'])
  addClusterFlags(command)
  const name = `${context.invocation.program} resolve`
  command
    .addHelpText(
      'after',
      `
Examples:
  ${name} web-1 --traffic in
  ${name} web-1 --traffic out --load-balancer edge
  ${name} web-1 --traffic in --gone

Exit codes:
  0 recorded    2 wrong arguments    3 there is nothing to resolve, or not so
  4 it is not known whether all of it is recorded: the same command once more
  7 a run is at work on it, or somebody changed its record meanwhile
`,
    )
    .action(async (pod: string, flags: ResolveFlags) => {
      const { resolveAction } = await import('../actions/resolve-action.ts')
      context.onDone(await resolveAction(pod, flags, context))
    })
}
