import type { Reason, ReasonOf } from './reason.ts'

/** The open runs of the subject that was asked for, such as `statefulset/web`. */
interface OpenRuns {
  asked: string
  runs: string[]
}

/** The results of an order to pause, resume or abort, and the reasons why an order is not carried out, or only in part. */
export interface OrderReasons {
  /**
   * The process of the run follows at the next renewal of its Lease, every `renewalMs`. `holder`: the holder of the Lease, which is at work
   * or was killed; absent if no process has it. `aborted`: runs that are being aborted.
   */
  'pause-given': OpenRuns & { holder?: string; renewalMs: number; aborted: string[] }
  /** `by`: the giver of the pause. `command`: continues the runs; absent if there are upgrades and undos among them. */
  'pause-lifted': OpenRuns & {
    by: string
    holder?: string
    renewalMs: number
    aborted: string[]
    command?: 'upgrade' | 'undo'
  }
  /** The abort is on the Leases, and the command does not wait for it. */
  'abort-given': OpenRuns
  /** The runs had ended before the order reached them. */
  'ended-before-abort': OpenRuns
  /** The process of the runs has aborted them. `left`: templates that were left unchanged. */
  'abort-done': OpenRuns & { left: Reason[] }
  /** No open run is on record. `found` lists half-finished work nevertheless. */
  'left-without-record': { asked: string; found: ReasonOf<'half-done-without-record' | 'record-of-run-unreadable'>[] }
  /** `holder` has the Lease, and may be about to begin a run. */
  'nothing-to-order': { order: 'pause' | 'resume' | 'abort'; asked: string; holder?: string }
  'not-paused': { asked: string }
  /** The Lease that would carry the order is gone. */
  'no-lease-for-order': { runs: string[]; asked: string }
  /** The run is being aborted; an abort cannot be revoked. */
  'being-aborted': { runs: string[]; by: string }
  /** The API server did not confirm whether the order is written. */
  'order-may-stand': { because: Reason }
  /** The order is written. It is not known whether a run has begun in the meantime. */
  'order-stands-unsure': { because: Reason }
  /** A later run continues the work of the runs that are to be aborted. */
  'begun-after-abort': { run: string; runs: string[] }
  'abort-stays-ordered': { because: Reason }
  'no-pods-by-selector': { selector: string; namespace: string }
  'half-done-without-record': { pod: string }
  'record-of-run-unreadable': { run: string }
}
