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
  // Whether all was taken shows only now.
  await terminal.out.flush()
  const hasFailed = whenLost !== undefined && terminal.isOutputLost()
  if (hasFailed) terminal.err.write('error: what this command prints is its only result, and it is not all there\n')
  await endProcess(hasFailed ? whenLost : code, terminal)
}

export interface Ending {
  code: ExitCode
  /** The code where stdout is lost, of what does nothing but write to it. */
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
    // commander has written its message already.
    if (error instanceof CommanderError) {
      const [first = ''] = invocation.args
      // kubectl takes its own flags before the command too.
      if (error.code === 'commander.unknownOption' && first.startsWith('-'))
        terminal.err.write(`Options come after the command: ${invocation.program} COMMAND ${inert(first)} …\n`)
      return error.exitCode === 0 ? { code: EXIT.done, whenLost: EXIT.failed } : { code: EXIT.usage }
    }
    // With all words that a reason may have: a command line that is understood does without.
    const { failureOf } = await import('./failures.ts')
    const failure = failureOf(error, { touched: false, plans: running !== undefined && tellsByOne(running) })
    reportFailure(failure, { verbose: running?.opts<{ verbose?: boolean }>().verbose === true }, terminal)
    // Its command has found the mistake.
    if (failure.code === EXIT.usage)
      terminal.err.write(`${usageHint(invocation, running === undefined ? undefined : commandPath(running))}\n`)
    return { code: failure.code }
  }
}

/** Its exit code 1 is an answer, and no failure. */
function tellsByOne(command: Command): boolean {
  const isDryRun = command.opts<{ dryRun?: boolean }>().dryRun === true
  return command.name() === 'plan' || command.name() === 'explain' || (isDryRun && command.name() !== 'cleanup')
}

/** Commander answers `help nosuch` with the help of all commands, and never names the word; `nosuch` it does. */
function words(args: readonly string[], { commands }: Command): readonly string[] {
  const [first, second] = args
  const asksForNone = first === 'help' && second !== undefined && !commands.some((command) => command.name() === second)
  return asksForNone ? args.slice(1) : args
}
