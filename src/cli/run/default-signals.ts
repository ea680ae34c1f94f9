import { exitCodeOfSignal, type ExitCode } from '../../library/exit-codes.ts'
import { SIGNALS, type ProcessEvents } from './interrupts.ts'

/**
 * Wraps the events of the process, so that a signal without a listener ends it with the exit code of the signal. Node itself would exit
 * with 129 for SIGHUP, and the first process of a container ignores signals without a listener.
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
