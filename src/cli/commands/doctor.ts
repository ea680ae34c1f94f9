import type { Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { DoctorFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addColorFlag, addOutputFlags, collect, given } from './flag-groups.ts'

export function registerDoctor(program: Command, context: CommandContext): void {
  const command = program
    .command('doctor')
    .summary('look for what endangers requests and upgrades')
    .description(
      'Checks the cluster, the Services of a namespace, the load balancers of the config and the records of sluice, and says what is wrong, ' +
        'and what to do about it. Writes nothing, unless it is told to probe.',
    )
    .argument('[workloads...]', 'TYPE/NAME of what is to be upgraded in place (default: what sluice has upgraded before)')
    .option('-A, --all-namespaces', 'Services, workloads and records of all namespaces')
    .option('--config <file>', 'config file (default: $SLUICE_CONFIG, else sluice.yaml where it is there)', given)
    .option('--probe', 'make a Service, measure how long its endpoints take, and remove it')
    .option('--ignore <code>', 'a finding that is known and accepted, by its code, repeatable', collect)
    .option('--strict', 'exit with 1 where there are warnings')
  addColorFlag(addOutputFlags(command, ['text', 'json']))
  addClusterFlags(command)
  command
    .addHelpText(
      'after',
      `
Examples:
  ${context.invocation.program} doctor
  ${context.invocation.program} doctor statefulset/web -n shop --probe
  ${context.invocation.program} doctor -A --strict -o json

Exit codes:
  0 no check has failed    1 with --strict: there are warnings    2 wrong arguments or config
  3 a check has failed, or the cluster cannot be read
`,
    )
    .action(async (args: string[], flags: DoctorFlags) => {
      const { doctorAction } = await import('../actions/doctor-action.ts')
      context.onDone(await doctorAction(args, flags, context), EXIT.failed)
    })
}
