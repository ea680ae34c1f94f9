import { CommanderError } from 'commander'
import { endProcess } from './end-process.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { failureOf } from './failures.ts'
import { invocationOf } from './invocation.ts'
import { createProgram } from './program.ts'
import { reportFailure } from './report-failure.ts'
import { processTerminal, type Terminal } from './terminal.ts'

/** Runs a command line and ends the process. */
export async function main(argv: readonly string[]): Promise<void> {
  const terminal = processTerminal()
  await endProcess(await runCommandLine(argv, terminal), terminal)
}

export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const invocation = invocationOf(argv)
  let code: ExitCode = EXIT.done
  const onDone = (result: ExitCode): void => {
    code = result
  }
  try {
    await createProgram({ invocation, terminal, onDone }).parseAsync(invocation.args, { from: 'user' })
    return code
  } catch (error) {
    // commander has written its message already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    const failure = failureOf(error, { touched: false })
    reportFailure(failure, { verbose: argv.includes('-v') || argv.includes('--verbose') }, terminal)
    if (failure.code === EXIT.usage) terminal.err.write(`Run "${invocation.program} COMMAND --help" for its usage.\n`)
    return failure.code
  }
}
