import type { Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import type { PlanFlags } from '../arguments/flags.ts'
import type { CommandContext } from './context.ts'
import { addClusterFlags, addColorFlag, addOutputFlags, addRequestFlags } from './flag-groups.ts'

export function registerPlan(program: Command, context: CommandContext): void {
  const command = program
    .command('plan')
    .summary('show what upgrade would do, pod by pod, and why')
    .description('Shows what `upgrade` with the same arguments would do, pod by pod, and why. Touches nothing.')
  addRequestFlags(command)
  addColorFlag(addOutputFlags(command, ['text', 'json', 'jsonl']))
  addClusterFlags(command)
  command
    .addHelpText(
      'after',
      `
Examples:
  ${context.invocation.program} plan statefulset/web app=registry.example/app:v2
  ${context.invocation.program} plan -l app=web app=app:v2 -o json

Exit codes, as of kubectl diff:
  0 nothing to do    1 there are changes    2 wrong arguments or config    3 refused
`,
    )
    .action(async (args: string[], flags: PlanFlags) => {
      const { planAction } = await import('../actions/plan-action.ts')
      context.onDone(await planAction(args, flags, context), EXIT.preflight)
    })
}
