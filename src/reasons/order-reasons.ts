import type { Reason, ReasonOf } from './reason.ts'

/** Open runs of what was asked for, such as `statefulset/web`. */
interface OpenRuns {
  asked: string
  runs: string[]
}

/** What came of an order to pause, to resume or to abort, and why it is not carried out, or not as it was asked for. */
export interface OrderReasons {
  /**
   * The process of the run follows at the next renewal of its Lease, every `renewalMs`.
   * `holder`: has the Lease, and is at work or was killed; absent where no process has it. `aborted`: runs that are being aborted.
   */
  'pause-given': OpenRuns & { holder?: string; renewalMs: number; aborted: string[] }
  /** `by`: who had given the pause. `command`: goes on with the runs; absent where they are of both kinds. */
  'pause-lifted': OpenRuns & {
    by: string
    holder?: string
    renewalMs: number
    aborted: string[]
    command?: 'upgrade' | 'undo'
  }
  /** The abort stands, and nothing waits for it. */
  'abort-given': OpenRuns
  /** The runs had come to their end before the order reached them. */
  'ended-before-abort': OpenRuns
  /** The process of the runs has aborted them. `left`: templates that are as they were. */
  'abort-done': OpenRuns & { left: Reason[] }
  /** No open run is on record. `found` tells that something is half done all the same. */
  'left-without-record': { asked: string; found: ReasonOf<'half-done-without-record' | 'record-of-run-unreadable'>[] }
  /** `holder` has the Lease, and may be about to begin a run. */
  'nothing-to-order': { order: 'pause' | 'resume' | 'abort'; asked: string; holder?: string }
  'not-paused': { asked: string }
  /** The Lease that the order would stand on is gone. */
  'no-lease-for-order': { runs: string[]; asked: string }
  /** An abort is never taken back. */
  'being-aborted': { runs: string[]; by: string }
  /** The API server did not say whether the order stands. */
  'order-may-stand': { because: Reason }
  /** The order stands. Whether a run has begun meanwhile is not known. */
  'order-stands-unsure': { because: Reason }
  /** A later run goes on with what the runs that are to be aborted have left. */
  'begun-after-abort': { run: string; runs: string[] }
  'abort-stays-ordered': { because: Reason }
  'no-pods-by-selector': { selector: string; namespace: string }
  'half-done-without-record': { pod: string }
  'record-of-run-unreadable': { run: string }
}
