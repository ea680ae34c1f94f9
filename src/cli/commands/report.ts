import type { Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { ReportFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addColorFlag, addOutputFlags, addReportFlag, given } from './flag-groups.ts'

export function registerReport(program: Command, context: CommandContext): void {
  const command = program
    .command('report')
    .summary('report a run: timeline, calls to load balancers, proofs; or list the runs')
    .description(
      'Reports a run from what is kept of it in the cluster: a row for each pod and a bar for each phase, the calls to load ' +
        'balancers with their evidence, images before and after, and the proof of each restart. Without a run it lists those ' +
        'that are known. A process keeps its part when it ends: what one that was killed had done is named as missing.',
    )
    .argument(
      '[run]',
      'id of a run, or TYPE/NAME for the newest run of that workload that had something to do (default: list the runs)',
      given,
    )
    .optionsGroup('This report:')
    .option(
      '--failures <file>',
      'JSON of failures seen from outside, to stand beside: [{"at": TIME, "kind": "503", "pod": NAME}]',
      given,
    )
  addReportFlag(addColorFlag(addOutputFlags(command, ['text', 'json', 'html'])))
  addClusterFlags(command)
  const name = `${context.invocation.program} report`
  command
    .addHelpText(
      'after',
      `
Examples:
  ${name}
  ${name} statefulset/web
  ${name} k3m9x7p2qa --report report.html --report report.json

Exit codes:
  0 reported, however the run ended    1 a file could not be written    2 wrong arguments
  3 no such run, or the cluster cannot be read
`,
    )
    .action(async (run: string | undefined, flags: ReportFlags) => {
      const { reportAction } = await import('../actions/report-action.ts')
      context.onDone(await reportAction(run, flags, context), EXIT.failed)
    })
}
