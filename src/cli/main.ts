import { CommanderError } from 'commander'
import { endProcess } from './end-process.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { failureOf } from './failures.ts'
import { invocationOf } from './invocation.ts'
import { createProgram } from './program.ts'
import { inert } from './output/inert.ts'
import { reportFailure } from './report-failure.ts'
import { processTerminal, type Terminal } from './terminal.ts'
import { usageHint } from './usage-hint.ts'

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
    if (error instanceof CommanderError) {
      const [first = ''] = invocation.args
      // kubectl takes its own flags before the command too.
      if (error.code === 'commander.unknownOption' && first.startsWith('-'))
        terminal.err.write(`Options come after the command: ${invocation.program} COMMAND ${inert(first)} …\n`)
      return error.exitCode === 0 ? EXIT.done : EXIT.usage
    }
    const failure = failureOf(error, { touched: false })
    reportFailure(failure, { verbose: argv.includes('-v') || argv.includes('--verbose') }, terminal)
    // Its command has found the mistake: the first word is its name.
    if (failure.code === EXIT.usage) terminal.err.write(`${usageHint(invocation, invocation.args[0])}\n`)
    return failure.code
  }
}
