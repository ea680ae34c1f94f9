import type { Clock } from '../../src/ports/clock.ts'

/** One life of the kubelet's process. Its timers are held while the process is stopped, and are lost when it ends. */
export interface Process {
  /** Runs a function once, unless this life has ended by then. */
  later(delayMs: number, run: () => void): Timer
  /** Takes a callback of the runtime, which goes on while the process is stopped. */
  receive(run: () => void): void
  pause(): void
  resume(): void
  end(): void
  readonly isPaused: boolean
}

export interface Timer {
  cancel(): void
}

export function startProcess(clock: Clock): Process {
  let ended = false
  let paused = false
  let held: (() => void)[] = []

  function receive(run: () => void): void {
    if (ended) return
    if (paused) held.push(run)
    else run()
  }

  return {
    later(delayMs, run) {
      let cancelled = false
      const handle = clock.setTimeout(() => receive(() => cancelled || run()), delayMs)
      return {
        cancel() {
          cancelled = true
          clock.clearTimeout(handle)
        },
      }
    },
    receive,
    pause() {
      paused = true
    },
    resume() {
      paused = false
      const due = held
      held = []
      for (const run of due) receive(run)
    },
    end() {
      ended = true
      held = []
    },
    get isPaused() {
      return paused
    },
  }
}
