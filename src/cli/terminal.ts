import { isatty } from 'node:tty'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system.ts'
import { withDefaultSignals } from './run/default-signals.ts'
import type { ExitCode } from '../library/exit-codes.ts'
import type { ProcessEvents } from './run/interrupts.ts'
import { streamSink, type Sink } from './output/sink.ts'
import { wholeFile } from './whole-file.ts'

/** The process around a command, and the only access to its streams, environment and end. */
export interface Terminal {
  out: Sink
  err: Sink
  /** True where stdin is a terminal. */
  hasStdin: boolean
  env: NodeJS.ProcessEnv
  events: ProcessEvents
  clock: Clock
  /** Reports whether stdout could not be written while a reader may still wait. A reader that has gone does not count. */
  isOutputLost(): boolean
  /** Ends the process now. Only code that cannot wait calls it; other code returns its exit code. */
  exit(code: ExitCode): void
}

export function processTerminal(): Terminal {
  let isLost = false
  const err = streamSink(process.stderr)
  const out = streamSink(wholeFile(process.stdout), ({ code, message }) => {
    // A closed pipe is expected, as after `| head`; a full disk is not.
    if (code === 'EPIPE') return
    isLost = true
    err.write(`stdout is lost (${message}); the command goes on without it\n`)
  })
  const exit = (code: ExitCode): void => process.exit(code)
  const events = withDefaultSignals(process, exit)
  return { out, err, hasStdin: isatty(0), env: process.env, events, clock: systemClock, isOutputLost: () => isLost, exit }
}
