import { withinLimit } from '../kube/within-limit.ts'
import type { Clock } from '../ports/clock.ts'

export interface WaitOptions {
  clock: Clock
  signal: AbortSignal
  /** On the clock. */
  deadlineAt: number
  /** Observes all anew. */
  refresh: () => Promise<void>
  onDeadline: () => Error
}

/** Wakes whoever waits for something, each time anything was observed; what to make of it is decided anew from the newest. */
export interface Changes {
  /** Something was observed. */
  notify(): void
  /** Nothing will be observed any more. */
  fail(error: Error): void
  listen(listener: () => void): void
  /** Somebody waits for a change. */
  isAwaited(): boolean
  /**
   * The first value that `look` gives; rejects with what `look` throws, on abort, at the deadline, and after `fail`. At the
   * deadline all is observed anew first.
   */
  until<T>(look: () => T | undefined, options: WaitOptions): Promise<T>
}

/** What has not answered by then is judged by what is known. */
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
