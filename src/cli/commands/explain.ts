import type { Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { ExplainFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addColorFlag, addOutputFlags, given } from './flag-groups.ts'

export function registerExplain(program: Command, context: CommandContext): void {
  const command = program
    .command('explain')
    .summary('tell whether a pod is in rotation, where, and if not, why')
    .description(
      'Tells whether pods are in rotation, in each EndpointSlice and each load balancer of the config, since when and by whom, and if not, why. Writes nothing.',
    )
    .argument('<object>', 'pod/NAME, service/NAME, or a workload such as statefulset/NAME')
  addColorFlag(addOutputFlags(command, ['text', 'json'])).option(
    '--config <file>',
    'config file with the load balancers (default: $SLUICE_CONFIG, else sluice.yaml where there is one)',
    given,
  )
  addClusterFlags(command)
  command
    .addHelpText(
      'after',
      `
Examples:
  ${context.invocation.program} explain pod/web-0
  ${context.invocation.program} explain service/web -o json
  ${context.invocation.program} explain statefulset/web --config sluice.yaml

Exit codes:
  0 all is as it should be    1 something is out of rotation, or differs from what it should be
  2 wrong arguments or config    3 it cannot be read, or a part that decides cannot
`,
    )
    .action(async (object: string, flags: ExplainFlags) => {
      const { explainAction } = await import('../actions/explain-action.ts')
      context.onDone(await explainAction(object, flags, context), EXIT.preflight)
    })
}
