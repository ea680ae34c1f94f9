import type { RunEventBody } from '../events.ts'
import type { Order } from './order.ts'
import type { Rollout } from '../rollout/rollout.ts'

export type Given = Pick<Order, 'order' | 'by'>

/** Carries out on a rollout what has been ordered of its run. */
export interface Obedience {
  /** The order as it stands may be another than before. */
  look(): void
  /** The rollout is paused, and nothing is under way. */
  rest(): void
  /** What is being obeyed. */
  readonly given: Given | undefined
}

export interface ObedienceOptions {
  /** The order as it stands. */
  ordered(): Given | undefined
  rollout: Pick<Rollout, 'pause' | 'resume' | 'abort' | 'hold'>
  /** A pause that has come to rest ends the run. */
  exitWhenPaused: boolean
  onPaused(by: string): void
  tell(event: RunEventBody): void
}

export function createObedience({ ordered, rollout, exitWhenPaused, onPaused, tell }: ObedienceOptions): Obedience {
  let given: Given | undefined
  let rests = false

  return {
    look() {
      const now = ordered()
      // An abort is never taken back.
      if (given?.order === 'abort' || given?.order === now?.order) return
      tell({ type: 'ordered', order: now?.order ?? 'resume', by: now?.by ?? '' })
      given = now
      rests = false
      if (now === undefined) rollout.resume()
      else if (now.order === 'pause') rollout.pause({ code: 'run-paused', by: now.by })
      else rollout.abort({ code: 'abort-ordered', by: now.by })
    },
    rest() {
      if (rests || given?.order !== 'pause') return
      rests = true
      tell({ type: 'paused', by: given.by })
      if (!exitWhenPaused) return
      onPaused(given.by)
      rollout.hold({ code: 'pause-ends-run', by: given.by })
    },
    get given() {
      return given
    },
  }
}
