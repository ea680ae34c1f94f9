import type { RunEventBody } from '../events.ts'
import type { Order } from './order.ts'
import type { Rollout } from '../rollout/rollout.ts'

export type Given = Pick<Order, 'order' | 'by'>

/** Carries out the orders for a run on its rollout. */
export interface Obedience {
  /** The order may have changed, or an order has reached the Leases. */
  look(): void
  /** The rollout is paused, and nothing is under way. */
  rest(): void
  /** The order that is carried out now. */
  readonly given: Given | undefined
}

export interface ObedienceOptions {
  /** The order that counts now. */
  ordered(): Given | undefined
  /**
   * Reports whether an order is on its way to the Leases. A rest ends the run only after that, so that the next process finds the pause
   * there.
   */
  isWriting(): boolean
  rollout: Pick<Rollout, 'pause' | 'resume' | 'abort' | 'hold'>
  /** Whether a pause that has come to rest ends the run. */
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
        // The rest may be over by now. Only the rollout knows.
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
