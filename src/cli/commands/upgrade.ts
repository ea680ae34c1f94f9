import type { Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { UpgradeFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addColorFlag, addOutputFlags, addReportFlag, addRequestFlags } from './flag-groups.ts'

export function registerUpgrade(program: Command, context: CommandContext): void {
  const command = program
    .command('upgrade')
    .summary('upgrade pods in place, each one drained before and restored after')
    .description(
      'Upgrades the containers of running pods in place: each pod is drained in its load balancers, patched, proven to run ' +
        "the new image, and put back as it was. Without an image the pods are brought to their workload's own template. " +
        'The same command again goes on where an earlier one stopped.',
    )
  addRequestFlags(command)
    .optionsGroup('This run:')
    .option('--dry-run', 'plan only; the same as the command plan')
    .option('--exit-when-paused', 'once a pause has come to rest, end with exit code 5 in place of waiting for its end')
    .option('--grace <duration>', 'after an interrupt, how long patched pods may take to come home', '5s')
  addReportFlag(addColorFlag(addOutputFlags(command, ['text', 'json', 'jsonl'])))
  addClusterFlags(command)
  const name = `${context.invocation.program} upgrade`
  command
    .addHelpText(
      'after',
      `
Examples:
  ${name} statefulset/web app=registry.example/app:v2
  ${name} sts/web                        # to what its template says already
  ${name} -l app=web app=app:v2 --max-unavailable 25%
  ${name} sts/web app=app:v2 -o json >result.json
  ${name} sts/web app=app:v2 --report report.html --report report.json

Exit codes:
  0 done or already there     1 failed                  2 wrong arguments or config
  3 preflight refused it      4 deadline, resumable     5 paused (--exit-when-paused)
  6 aborted or rolled back    7 conflict with another run or change
  8 a person has to look      130, 143 interrupted, resumable
`,
    )
    .action(async (args: string[], flags: UpgradeFlags) => {
      const { upgradeAction } = await import('../actions/upgrade-action.ts')
      context.onDone(await upgradeAction(args, flags, context), flags.dryRun ? EXIT.preflight : undefined)
    })
}
