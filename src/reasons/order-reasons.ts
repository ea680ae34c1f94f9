import type { Reason } from './reason.ts'

/** Why an order to pause, to resume or to abort is not carried out, or not as it was asked for. */
export interface OrderReasons {
  'no-open-run': { asked: string }
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
