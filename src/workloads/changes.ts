import { withinLimit } from '../kube/within-limit.ts'
import type { Clock } from '../ports/clock.ts'

export interface WaitOptions {
  clock: Clock
  signal: AbortSignal
  /** The deadline, on the monotonic clock. */
  deadlineAt: number
  /** Reads all watched objects anew. */
  refresh: () => Promise<void>
  onDeadline: () => Error
}

/** Wakes waiting callers at every observation. Each of them then decides from the newest objects. */
export interface Changes {
  /** Reports a new observation. */
  notify(): void
  /** Reports that no further observation will come. */
  fail(error: Error): void
  listen(listener: () => void): void
  /** True while a caller waits for a change. */
  isAwaited(): boolean
  /**
   * Resolves with the first value of `look`. Rejects with the error of `look`, on abort, at the deadline, and after `fail`. At the deadline
   * all objects are read anew once before the rejection.
   */
  until<T>(look: () => T | undefined, options: WaitOptions): Promise<T>
}

/** The time limit of the last read. After it, the known objects decide. */
const LOOKS_FOR_MS = 10_000

export function createChanges(): Changes {
  const listeners = new Set<() => void>()
  let waiting = 0
  let failure: Error | undefined

  function notify(): void {
    for (const listener of listeners) listener()
  }

  return {
    notify,
    fail(error) {
      failure ??= error
      notify()
    },
    listen: (listener) => void listeners.add(listener),
    isAwaited: () => waiting > 0,
    until: (look, { clock, signal, deadlineAt, refresh, onDeadline }) =>
      new Promise((resolve, reject) => {
        waiting += 1
        let isSettled = false
        const timer = clock.setTimeout(() => void judge(), Math.max(0, deadlineAt - clock.now()))
        const onAbort = (): void => settle(() => reject(signal.reason))

        async function judge(): Promise<void> {
          await withinLimit(clock, LOOKS_FOR_MS, refresh)
          if (!isSettled) check()
          settle(() => reject(onDeadline()))
        }

        function settle(how: () => void): void {
          if (isSettled) return
          isSettled = true
          waiting -= 1
          clock.clearTimeout(timer)
          signal.removeEventListener('abort', onAbort)
          listeners.delete(check)
          how()
        }

        function check(): void {
          try {
            const value = look()
            if (value !== undefined) settle(() => resolve(value))
            else if (signal.aborted) onAbort()
            else if (failure) throw failure
          } catch (error) {
            settle(() => reject(error))
          }
        }

        listeners.add(check)
        signal.addEventListener('abort', onAbort)
        check()
      }),
  }
}
