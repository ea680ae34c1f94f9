import { Option, type Command } from 'commander'
import type { DemoFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addColorFlag } from './flag-groups.ts'

const INCIDENTS = ['flap', 'heartbeat', 'backlog', 'selector', 'sync'] as const satisfies readonly DemoFlags['incident'][]

export function registerDemo(program: Command, context: CommandContext): void {
  const name = `${context.invocation.program} demo`
  const command = program
    .command('demo')
    .summary('see in a minute what goes wrong without sluice, and that it does not with it')
    .description(
      'Upgrades the same pods three times, under traffic: by a patch and Ready, by a wait and a follower of Ready, and by sluice. ' +
        'It needs no cluster: the API server and the kubelet are embedded, the pods, the load balancer and the traffic are ' +
        'processes of this machine, on its loopback addresses. Nothing is left behind but the report. ' +
        'With --incident it plays one incident, lets sluice find it, and plays it again with the cure; flap also with rules of the webhook.',
    )
    .addOption(
      new Option('--load-balancer <name>', 'embedded, or the haproxy that is installed here')
        .choices(['embedded', 'haproxy'])
        .default('embedded'),
    )
    .addOption(
      new Option('--incident <name>', 'play an incident of the field in place of the three upgrades, and let sluice find it')
        .choices(INCIDENTS)
        .conflicts(['loadBalancer', 'pods', 'report']),
    )
    .option('--pods <number>', 'how many pods, from 2 to 9; with more than 3 it takes longer than a minute', '3')
    .option(
      '--report <file>',
      'where the report of the last act goes, .html or .json (default: a new file in the temporary folder)',
    )
  addColorFlag(command)
    .addHelpText(
      'after',
      `
Examples:
  ${name}
  ${name} --load-balancer haproxy
  ${name} --incident heartbeat

Exit codes:
  0 no request failed in the last act, and each pod was drained once and restored once; the incident was found, and is cured
  1 otherwise     2 wrong arguments     3 it cannot run here     130, 143 interrupted
`,
    )
    .action(async (flags: DemoFlags) => {
      const { demoAction } = await import('../actions/demo-action.ts')
      context.onDone(await demoAction(flags, context))
    })
}
