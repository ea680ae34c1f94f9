import type { Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { UndoFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import {
  addClusterFlags,
  addColorFlag,
  addOutputFlags,
  addPermissions,
  addReportFlag,
  addRolloutFlags,
  given,
} from './flag-groups.ts'

export function registerUndo(program: Command, context: CommandContext): void {
  const command = program
    .command('undo')
    .summary('take a run back: pods and template to the images before it')
    .description(
      'Takes a run back: the template first, then each pod to the images that it had before, drained and restored as in an ' +
        'upgrade. Pods that the run was not about are left as they are; what it left half done goes first. The same command ' +
        'again goes on where an earlier one stopped, and has nothing to do where all is back.',
    )
    .argument('<workload>', 'TYPE/NAME of a workload, or of a pod that has no owner')
    .optionsGroup('What to undo:')
    .option(
      '--run <id>',
      'the run, as sluice status names it (default: the newest that has changed anything, and is no undo itself)',
      given,
    )
  addPermissions(command)
  addRolloutFlags(command)
    .optionsGroup('This run:')
    .option('--dry-run', 'show what would be done, pod by pod, and touch nothing')
    .option('--exit-when-paused', 'where somebody pauses the run, end once nothing is under way, in place of waiting')
    .option('--grace <duration>', 'after an interrupt, how long patched pods may take to come home', '5s')
  addReportFlag(addColorFlag(addOutputFlags(command, ['text', 'json', 'jsonl'])))
  addClusterFlags(command)
  const name = `${context.invocation.program} undo`
  command
    .addHelpText(
      'after',
      `
Examples:
  ${name} statefulset/web --dry-run
  ${name} statefulset/web
  ${name} sts/web --run k3m9x7p2qa

Exit codes are those of upgrade; 3 where there is nothing on record to undo. With --dry-run those of plan: 1 where there
are changes. A pod that fails on its way back stays out of rotation, whatever rollout.onFailure says.
`,
    )
    .action(async (workload: string, flags: UndoFlags) => {
      const { undoAction } = await import('../actions/undo-action.ts')
      context.onDone(await undoAction(workload, flags, context), flags.dryRun ? EXIT.preflight : undefined)
    })
}
