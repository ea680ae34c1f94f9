import { Command } from 'commander'
import { registerAbort } from './commands/abort.ts'
import { registerAdapter } from './commands/adapter.ts'
import { registerCleanup } from './commands/cleanup.ts'
import type { CommandContext } from './commands/context.ts'
import { registerDemo } from './commands/demo.ts'
import { registerExplain } from './commands/explain.ts'
import { registerDoctor } from './commands/doctor.ts'
import { registerObserve } from './commands/observe.ts'
import { registerPause } from './commands/pause.ts'
import { registerPlan } from './commands/plan.ts'
import { registerRbac } from './commands/rbac.ts'
import { registerReport } from './commands/report.ts'
import { registerResolve } from './commands/resolve.ts'
import { registerResume } from './commands/resume.ts'
import { registerStatus } from './commands/status.ts'
import { registerSync } from './commands/sync.ts'
import { registerUndo } from './commands/undo.ts'
import { registerUpgrade } from './commands/upgrade.ts'
import { registerVersion } from './commands/version.ts'
import { registerWebhook } from './commands/webhook.ts'
import { commandError } from './output/command-error.ts'
import { commandPath, usageHint } from './arguments/usage-hint.ts'
import { sluiceVersion } from './version.ts'

/** Creates the program with all commands and their flags. The code of a command loads when the command runs. */
export function createProgram(context: CommandContext): Command {
  const { out, err } = context.terminal
  const program = new Command()
    .name(context.invocation.program)
    .description('Upgrades pods in place behind load balancers outside the cluster: one drain and one restore per pod, in order.')
    .version(sluiceVersion(), '--version')
    .helpCommand(true)
    // A subcommand has options of its own, which the command does not share.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => out.write(text),
      writeErr: (text) => err.write(text),
      outputError: (text, write) => write(commandError(text)),
    })
    .showHelpAfterError(usageHint(context.invocation))
  const commands = [
    registerUpgrade,
    registerPlan,
    registerUndo,
    registerStatus,
    registerExplain,
    registerDoctor,
    registerObserve,
    registerSync,
    registerReport,
    registerPause,
    registerResume,
    registerAbort,
    registerResolve,
    registerCleanup,
    registerRbac,
    registerWebhook,
    registerAdapter,
    registerDemo,
    registerVersion,
  ]
  for (const register of commands) register(program, context)
  for (const command of program.commands.flatMap((one) => [one, ...one.commands])) {
    command.showHelpAfterError(usageHint(context.invocation, commandPath(command)))
    // Commands do not inherit the options of the program, and each command is asked for the version.
    command.version(sluiceVersion(), '--version')
    command.options.find(({ long }) => long === '--version')!.hideHelp()
  }
  return program
}
