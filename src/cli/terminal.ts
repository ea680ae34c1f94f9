import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system.ts'
import { withDefaultSignals } from './default-signals.ts'
import type { ExitCode } from './exit-codes.ts'
import type { ProcessEvents } from './interrupts.ts'
import { streamSink, type Sink } from './output/sink.ts'

/** The process around a command: the only way to its streams, its environment and its end. */
export interface Terminal {
  out: Sink
  err: Sink
  env: NodeJS.ProcessEnv
  events: ProcessEvents
  clock: Clock
  /** Ends the process now. Only for what cannot wait; everything else returns its code. */
  exit(code: ExitCode): void
}

export function processTerminal(): Terminal {
  const err = streamSink(process.stderr)
  const out = streamSink(process.stdout, ({ code, message }) => {
    // A closed pipe is `| head`, and no news; a full disk is.
    if (code !== 'EPIPE') err.write(`stdout is lost (${message}); the command goes on without it\n`)
  })
  const exit = (code: ExitCode): void => process.exit(code)
  return { out, err, env: process.env, events: withDefaultSignals(process, exit), clock: systemClock, exit }
}
