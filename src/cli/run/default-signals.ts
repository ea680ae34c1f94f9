import { exitCodeOfSignal, type ExitCode } from '../../library/exit-codes.ts'
import { SIGNALS, type ProcessEvents } from './interrupts.ts'

/**
 * The events of the process, where a signal that no command listens to ends it at once by its own code. Left to Node, SIGHUP
 * would be 129; and as the first process of a container, a command that only reads would not even hear a signal.
 */
export function withDefaultSignals(events: ProcessEvents, exit: (code: ExitCode) => void): ProcessEvents {
  const heard = new Map(SIGNALS.map((signal) => [signal as string, new Set<(argument: unknown) => void>()]))
  for (const signal of SIGNALS) {
    const listeners = heard.get(signal)!
    events.on(signal, (argument) => {
      if (listeners.size === 0) exit(exitCodeOfSignal(signal))
      for (const listener of listeners) listener(argument)
    })
  }
  return {
    on: (event, listener) => heard.get(event)?.add(listener) ?? events.on(event, listener),
    off: (event, listener) => heard.get(event)?.delete(listener) ?? events.off(event, listener),
  }
}
