import type { RunEventBody } from '../events.ts'
import type { Order } from './order.ts'
import type { Rollout } from '../rollout/rollout.ts'

export type Given = Pick<Order, 'order' | 'by'>

/** Carries out on a rollout what has been ordered of its run. */
export interface Obedience {
  /** The order as it stands may be another than before, or an order is no longer on its way to the Leases. */
  look(): void
  /** The rollout is paused, and nothing is under way. */
  rest(): void
  /** What is being obeyed. */
  readonly given: Given | undefined
}

export interface ObedienceOptions {
  /** The order as it stands. */
  ordered(): Given | undefined
  /** An order is on its way to the Leases. A rest ends the run only after that: whoever goes on with it has to find its pause there. */
  isWriting(): boolean
  rollout: Pick<Rollout, 'pause' | 'resume' | 'abort' | 'hold'>
  /** A pause that has come to rest ends the run. */
  exitWhenPaused: boolean
  onPaused(by: string): void
  tell(event: RunEventBody): void
}

export function createObedience({ ordered, isWriting, rollout, exitWhenPaused, onPaused, tell }: ObedienceOptions): Obedience {
  let given: Given | undefined
  let rests = false
  let endsOnceWritten = false

  return {
    look() {
      const now = ordered()
      // An abort is never taken back.
      if (given?.order === 'abort') return
      if (given?.order === now?.order) {
        // What has come to rest may be under way again, which the rollout knows.
        if (endsOnceWritten && given && !isWriting()) rollout.pause({ code: 'run-paused', by: given.by })
        return
      }
      tell({ type: 'ordered', order: now?.order ?? 'resume', by: now?.by ?? '' })
      given = now
      rests = false
      endsOnceWritten = false
      if (now === undefined) rollout.resume()
      else if (now.order === 'pause') rollout.pause({ code: 'run-paused', by: now.by })
      else rollout.abort({ code: 'abort-ordered', by: now.by })
    },
    rest() {
      if (given?.order !== 'pause' || (rests && !endsOnceWritten)) return
      if (!rests) tell({ type: 'paused', by: given.by })
      rests = true
      endsOnceWritten = exitWhenPaused && isWriting()
      if (!exitWhenPaused || endsOnceWritten) return
      onPaused(given.by)
      rollout.hold({ code: 'pause-ends-run', by: given.by })
    },
    get given() {
      return given
    },
  }
}
