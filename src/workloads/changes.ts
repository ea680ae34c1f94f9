import type { Clock } from '../ports/clock.ts'

export interface WaitOptions {
  clock: Clock
  signal: AbortSignal
  /** On the clock. */
  deadlineAt: number
  onDeadline: () => Error
}

/** Wakes whoever waits for something, each time anything was observed; what to make of it is decided anew from the newest. */
export interface Changes {
  /** Something was observed. */
  notify(): void
  /** Nothing will be observed any more. */
  fail(error: Error): void
  listen(listener: () => void): void
  /** The first value that `look` gives; rejects with what `look` throws, on abort, at the deadline, and after `fail`. */
  until<T>(look: () => T | undefined, options: WaitOptions): Promise<T>
}

export function createChanges(): Changes {
  const listeners = new Set<() => void>()
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
    until: (look, { clock, signal, deadlineAt, onDeadline }) =>
      new Promise((resolve, reject) => {
        const timer = clock.setTimeout(() => settle(() => reject(onDeadline())), Math.max(0, deadlineAt - clock.now()))
        const onAbort = (): void => settle(() => reject(signal.reason))

        function settle(how: () => void): void {
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
