import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import type { Clock } from '../../ports/clock.ts'

/** Where nothing of a run holds the window, nothing of it can free a place: that is not waited for without end. */
export interface Stall {
  /** Whether it waits, and what fills the window now: what it gives up for is what fills it then. */
  wait(full: Reason | undefined): void
}

export interface StallOptions {
  clock: Clock
  forMs: number
  onStalled(reason: ReasonOf<'window-stalled'>): void
}

export function createStall({ clock, forMs, onStalled }: StallOptions): Stall {
  let timer: unknown
  let because: Reason | undefined
  return {
    wait(full) {
      if (full === undefined) {
        clock.clearTimeout(timer)
        timer = undefined
        return
      }
      because = full
      timer ??= clock.setTimeout(() => onStalled({ code: 'window-stalled', because: because ?? full, forMs }), forMs)
    },
  }
}
