import type { OrderReasons } from '../../reasons/order-reasons.ts'
import type { WordsOf } from './writing.ts'

/** Why an order is not carried out, or not as it was asked for. */
export const orders: WordsOf<OrderReasons> = {
  'no-open-run': ({ asked }) => `no run of ${asked} is open`,
  'nothing-to-order': ({ order, asked, holder }) =>
    `no run of ${asked} is open: nothing to ${order}` +
    (holder === undefined ? '' : `; ${holder} has the Lease, and may be about to begin one: then the same command once more`),
  'not-paused': ({ asked }) => `no run of ${asked} is paused: nothing to resume`,
  'no-lease-for-order': ({ runs, asked }) =>
    `run ${runs.join(', ')} of ${asked}: the Lease that the order would stand on is gone; a process that ` +
    'is at work stops for that within seconds, and then only the same command, or an abort that waits, goes on with it',
  'being-aborted': ({ runs, by }) => `run ${runs.join(', ')} is being aborted (by ${by}), which is never taken back`,
  'order-may-stand': ({ because }, write) =>
    `${write.reason(because)}: whether this stands is not known; the same command once more makes sure of it`,
  'order-stands-unsure': ({ because }, write) =>
    `${write.reason(because)}: it stands, and whether a run has begun meanwhile is not known; the same command once more makes sure of it`,
  'begun-after-abort': ({ run, runs }) =>
    `run ${run} was begun after the order to abort ${runs.join(', ')}, and has to settle what that left: it goes on, unless it is aborted too`,
  'abort-stays-ordered': ({ because }, write) => `${write.reason(because)}; the abort stays ordered`,
  'no-pods-by-selector': ({ selector, namespace }) =>
    `no pods match ${selector} in namespace ${namespace}; check the selector, and the namespace (-n), or name the workload`,
  'half-done-without-record': ({ pod }) => `pod/${pod} is half done`,
  'record-of-run-unreadable': ({ run }) => `the record of run ${run} cannot be read`,
}
