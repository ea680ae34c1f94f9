import { CommanderError, type Command } from 'commander'
import { endProcess } from './end-process.ts'
import { EXIT, type ExitCode } from '../library/exit-codes.ts'
import { invocationOf } from './invocation.ts'
import { createProgram } from './program.ts'
import { inert } from './output/inert.ts'
import { reportFailure } from './report-failure.ts'
import { processTerminal, type Terminal } from './terminal.ts'
import { commandPath, usageHint } from './arguments/usage-hint.ts'

/** Runs a command line and ends the process. */
export async function main(argv: readonly string[]): Promise<void> {
  const terminal = processTerminal()
  const { code, whenLost } = await runCommandLine(argv, terminal)
  // Only now is it known whether all output was taken.
  await terminal.out.flush()
  const hasFailed = whenLost !== undefined && terminal.isOutputLost()
  if (hasFailed) terminal.err.write('error: what this command prints is its only result, and it is not all there\n')
  await endProcess(hasFailed ? whenLost : code, terminal)
}

export interface Ending {
  code: ExitCode
  /** The exit code where stdout is lost, for a command whose only result is its stdout. */
  whenLost?: ExitCode | undefined
}

export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<Ending> {
  const invocation = invocationOf(argv)
  let ending: Ending = { code: EXIT.done }
  const onDone = (code: ExitCode, whenLost?: ExitCode): void => {
    ending = { code, whenLost }
  }
  const program = createProgram({ invocation, terminal, onDone })
  let running: Command | undefined
  program.hook('preAction', (_program, command) => {
    running = command
  })
  try {
    await program.parseAsync(words(invocation.args, program), { from: 'user' })
    return ending
  } catch (error) {
    // commander has printed its message already.
    if (error instanceof CommanderError) {
      const [first = ''] = invocation.args
      // kubectl accepts its own flags before the command too.
      if (error.code === 'commander.unknownOption' && first.startsWith('-'))
        terminal.err.write(`Options come after the command: ${invocation.program} COMMAND ${inert(first)} …\n`)
      return error.exitCode === 0 ? { code: EXIT.done, whenLost: EXIT.failed } : { code: EXIT.usage }
    }
    // The module holds all words of the reasons, and a valid command line does not need it.
    const { failureOf } = await import('./failures.ts')
    const failure = failureOf(error, { touched: false, plans: running !== undefined && tellsByOne(running) })
    reportFailure(failure, { verbose: running?.opts<{ verbose?: boolean }>().verbose === true }, terminal)
    // The command itself found the mistake.
    if (failure.code === EXIT.usage)
      terminal.err.write(`${usageHint(invocation, running === undefined ? undefined : commandPath(running))}\n`)
    return { code: failure.code }
  }
}

/** Reports whether exit code 1 of the command is an answer rather than a failure. */
function tellsByOne(command: Command): boolean {
  const isDryRun = command.opts<{ dryRun?: boolean }>().dryRun === true
  return command.name() === 'plan' || command.name() === 'explain' || (isDryRun && command.name() !== 'cleanup')
}

/** Commander answers `help nosuch` with the help of all commands, and does not report the unknown word. For `nosuch` alone, it does. */
function words(args: readonly string[], { commands }: Command): readonly string[] {
  const [first, second] = args
  const asksForNone = first === 'help' && second !== undefined && !commands.some((command) => command.name() === second)
  return asksForNone ? args.slice(1) : args
}
