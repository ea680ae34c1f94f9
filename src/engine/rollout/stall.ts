import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import type { Clock } from '../../ports/clock.ts'

/** Ends the wait for a full window that no pod of the run can free. */
export interface Stall {
  /** Notes the reason for which the window is full, or undefined. The reason at the end of the time is the one that is reported. */
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
