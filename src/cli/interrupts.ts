/**
 * Signals, and mistakes of sluice itself, in the middle of a run. The first asks the run to stop in order, the second
 * ends the process at once: what a run holds is in the cluster, so that a later run can always go on.
 */
import { EXIT, exitCodeOfSignal, type ExitCode, type InterruptSignal } from './exit-codes.ts'

export const SIGNALS: readonly InterruptSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** npm and some CI runners pass on a Ctrl-C that the terminal has sent already; no hand presses twice this fast. */
const SAME_PRESS_MS = 100

/** What a process can tell; `process` itself but in tests. */
export interface ProcessEvents {
  on(event: string, listener: (argument: unknown) => void): unknown
  off(event: string, listener: (argument: unknown) => void): unknown
}

export type InterruptCause = { signal: InterruptSignal } | { bug: unknown }

export interface InterruptsDeps {
  events: ProcessEvents
  /** Monotonic milliseconds. */
  now: () => number
  /** Ends the process now. `again` is false where nothing had begun yet. */
  exit: (code: ExitCode, cause: InterruptCause, again: boolean) => void
}

export interface Interrupts {
  /** The first cause, once there was one. */
  readonly cause: InterruptCause | undefined
  /** From now on the first cause calls `stop`; before this every cause ends the process at once. */
  stopInOrder(stop: (cause: InterruptCause) => void): void
  /** Back to the process's own way with signals. */
  dispose(): void
}

export function watchInterrupts({ events, now, exit }: InterruptsDeps): Interrupts {
  let stop: ((cause: InterruptCause) => void) | undefined
  let first: { cause: InterruptCause; atMs: number } | undefined

  function onCause(cause: InterruptCause): void {
    if (first !== undefined) {
      if (!isSamePress(first, cause)) exit(codeOf(first.cause), cause, true)
      return
    }
    first = { cause, atMs: now() }
    if (stop === undefined) exit(codeOf(cause), cause, false)
    else stop(cause)
  }

  function isSamePress(earlier: { cause: InterruptCause; atMs: number }, cause: InterruptCause): boolean {
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
    stopInOrder: (callback) => {
      stop = callback
    },
    dispose: () => {
      for (const [event, listener] of listeners) events.off(event, listener)
    },
  }
}

export function codeOf(cause: InterruptCause): ExitCode {
  return 'signal' in cause ? exitCodeOfSignal(cause.signal) : EXIT.failed
}
