import type { OrderReasons } from '../../reasons/order-reasons.ts'
import { seconds, type WordsOf } from './writing.ts'

function runsOf({ runs, asked }: { runs: readonly string[]; asked: string }): string {
  return `run ${runs.join(', ')} of ${asked}`
}

function asBefore(aborted: readonly string[]): string {
  return aborted.length === 0 ? '' : `; run ${aborted.join(', ')} is being aborted, as before`
}

function nextRenewal(renewalMs: number): string {
  return `the next renewal of its Lease (${seconds(renewalMs)})`
}

/** What to do about each kind of what no open run tells of; a run brings pods home, and mends no record. */
function waysOn(found: Readonly<OrderReasons['left-without-record']>['found']): string {
  const isAny = (code: (typeof found)[number]['code']): boolean => found.some((one) => one.code === code)
  return [
    ...(isAny('half-done-without-record') ? ['sluice upgrade brings such pods to their end'] : []),
    ...(isAny('record-of-run-unreadable') ? ['sluice status says what to do about a record that cannot be read'] : []),
  ].join(', and ')
}

/** What came of an order, and why it is not carried out, or not as it was asked for. */
export const orders: WordsOf<OrderReasons> = {
  'pause-given': ({ holder, renewalMs, aborted, ...open }) => {
    const next =
      holder === undefined
        ? 'no process is at work on it; the one that goes on with it stays paused until sluice resume'
        : `it starts no new pod from ${nextRenewal(renewalMs)} on, those under way come home; sluice resume goes on`
    return `${runsOf(open)}: ${next}${asBefore(aborted)}`
  },
  'pause-lifted': ({ by, holder, renewalMs, aborted, command, ...open }) => {
    const same = `the same ${command === undefined ? '' : `${command} `}command`
    const next =
      holder === undefined
        ? `no process is at work on it: ${same} goes on`
        : `it goes on from ${nextRenewal(renewalMs)} on; where its process is dead, ${same} goes on`
    return `${runsOf(open)}: the pause by ${by} is lifted; ${next}${asBefore(aborted)}`
  },
  'abort-given': (open) => `${runsOf(open)}: the abort is ordered; sluice status shows what becomes of it`,
  'ended-before-abort': (open) => `${runsOf(open)} had come to its end before the order reached it`,
  'abort-done': ({ left, ...open }, write) =>
    `${runsOf(open)} is aborted${left.length === 0 ? '' : `, but ${left.map((one) => write.reason(one)).join('; ')}`}`,
  'left-without-record': ({ asked, found }, write) =>
    `no open run of ${asked} is on record, but ${found.map((one) => write.reason(one)).join('; ')}: ${waysOn(found)}`,
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
