/**
 * Signals and bugs of sluice during a run. The first one stops the run in order, the second ends the process at once: the cluster holds
 * the state of the run, so that a later run can continue. After the run, a signal ends only the remaining local work.
 */
import { EXIT, exitCodeOfSignal, type ExitCode, type InterruptSignal } from '../../library/exit-codes.ts'

export const SIGNALS: readonly InterruptSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** npm and some CI runners repeat a Ctrl-C that the terminal has sent already. No person presses it twice this fast. */
const SAME_PRESS_MS = 100

/** The events of a process: `process` itself, except in tests. */
export interface ProcessEvents {
  on(event: string, listener: (argument: unknown) => void): unknown
  off(event: string, listener: (argument: unknown) => void): unknown
}

export type InterruptCause = { signal: InterruptSignal } | { bug: unknown }

export interface InterruptsDeps {
  events: ProcessEvents
  /** Returns monotonic milliseconds. */
  now: () => number
  /** Ends the process now, before work has begun, and by default for the second cause. */
  exit: (code: ExitCode, cause: InterruptCause) => void
}

export interface Interrupts {
  /** The cause that interrupted the run; undefined until then. */
  readonly cause: InterruptCause | undefined
  /**
   * From now on, the first cause calls `stop`, and the second calls `again`, which ends the process with the exit code of the first
   * cause.
   */
  stopInOrder(stop: (cause: InterruptCause) => void, again?: InterruptsDeps['exit']): void
  /** From now on, each cause calls `end`. The exit code is settled, and no signal changes it. */
  over(end: (cause: InterruptCause) => void): void
  /** Restores the default handling of signals. */
  dispose(): void
}

interface Caught {
  cause: InterruptCause
  atMs: number
}

export function watchInterrupts({ events, now, exit }: InterruptsDeps): Interrupts {
  let first: Caught | undefined
  let last: Caught | undefined
  let onFirst = (cause: InterruptCause): void => exit(codeOf(cause), cause)
  let onAgain = exit
  let onceOver: ((cause: InterruptCause) => void) | undefined

  function onCause(cause: InterruptCause): void {
    const isSamePress = last !== undefined && pressedOnce(last, cause)
    if (isSamePress) return
    last = { cause, atMs: now() }
    if (onceOver !== undefined) onceOver(cause)
    else if (first !== undefined) onAgain(codeOf(first.cause), cause)
    else {
      first = last
      onFirst(cause)
    }
  }

  function pressedOnce(earlier: Caught, cause: InterruptCause): boolean {
    const isSameSignal = 'signal' in cause && 'signal' in earlier.cause && cause.signal === earlier.cause.signal
    return isSameSignal && now() - earlier.atMs < SAME_PRESS_MS
  }

  const listeners = [
    ...SIGNALS.map((signal) => [signal, () => onCause({ signal })] as const),
    ...['uncaughtException', 'unhandledRejection'].map((event) => [event, (error: unknown) => onCause({ bug: error })] as const),
  ]
  for (const [event, listener] of listeners) events.on(event, listener)
  return {
    get cause() {
      return first?.cause
    },
    stopInOrder: (stop, again = exit) => {
      onFirst = stop
      onAgain = again
    },
    over: (end) => {
      onceOver = end
    },
    dispose: () => {
      for (const [event, listener] of listeners) events.off(event, listener)
    },
  }
}

export function codeOf(cause: InterruptCause): ExitCode {
  return 'signal' in cause ? exitCodeOfSignal(cause.signal) : EXIT.failed
}
