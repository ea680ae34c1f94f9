import type { OrderReasons } from '../../reasons/order-reasons.ts'
import { agreeing, seconds, type WordsOf } from './writing.ts'

function runsOf({ runs, asked }: { runs: readonly string[]; asked: string }): string {
  return `${agreeing(runs, 'run', 'runs')} ${runs.join(', ')} of ${asked}`
}

function asBefore(aborted: readonly string[]): string {
  return aborted.length === 0
    ? ''
    : `; ${agreeing(aborted, 'run', 'runs')} ${aborted.join(', ')} ${agreeing(aborted, 'is', 'are')} being aborted, as before`
}

function nextRenewal(runs: readonly string[], renewalMs: number): string {
  return `the next renewal of ${agreeing(runs, 'its', 'their')} Lease (${seconds(renewalMs)})`
}

/** The next step for each kind of half-finished work without an open run. A run finishes such pods, but repairs no record. */
function waysOn(found: Readonly<OrderReasons['left-without-record']>['found']): string {
  const isAny = (code: (typeof found)[number]['code']): boolean => found.some((one) => one.code === code)
  return [
    ...(isAny('half-done-without-record') ? ['sluice upgrade brings such pods to their end'] : []),
    ...(isAny('record-of-run-unreadable') ? ['sluice status says what to do about a record that cannot be read'] : []),
  ].join(', and ')
}

/** The words for the results of orders. */
export const orders: WordsOf<OrderReasons> = {
  'pause-given': ({ holder, renewalMs, aborted, ...open }) => {
    const it = agreeing(open.runs, 'it', 'them')
    const next =
      holder === undefined
        ? `no process is at work on ${it}; the one that goes on with ${it} stays paused until sluice resume`
        : `${agreeing(open.runs, 'it starts', 'they start')} no new pod from ${nextRenewal(open.runs, renewalMs)} on, those under way come home; sluice resume goes on`
    return `${runsOf(open)}: ${next}${asBefore(aborted)}`
  },
  'pause-lifted': ({ by, holder, renewalMs, aborted, command, ...open }) => {
    const same = `the same ${command === undefined ? '' : `${command} `}command`
    const next =
      holder === undefined
        ? `no process is at work on ${agreeing(open.runs, 'it', 'them')}: ${same} goes on`
        : `${agreeing(open.runs, 'it goes', 'they go')} on from ${nextRenewal(open.runs, renewalMs)} on; where ${agreeing(open.runs, 'its', 'their')} process is dead, ${same} goes on`
    return `${runsOf(open)}: the pause by ${by} is lifted; ${next}${asBefore(aborted)}`
  },
  'abort-given': (open) =>
    `${runsOf(open)}: the abort is ordered; sluice status shows what becomes of ${agreeing(open.runs, 'it', 'them')}`,
  'ended-before-abort': (open) =>
    `${runsOf(open)} had come to ${agreeing(open.runs, 'its', 'their')} end before the order reached ${agreeing(open.runs, 'it', 'them')}`,
  'abort-done': ({ left, ...open }, write) =>
    `${runsOf(open)} ${agreeing(open.runs, 'is', 'are')} aborted${left.length === 0 ? '' : `, but ${left.map((one) => write.reason(one)).join('; ')}`}`,
  'left-without-record': ({ asked, found }, write) =>
    `no open run of ${asked} is on record, but ${found.map((one) => write.reason(one)).join('; ')}: ${waysOn(found)}`,
  'nothing-to-order': ({ order, asked, holder }) =>
    `no run of ${asked} is open: nothing to ${order}` +
    (holder === undefined ? '' : `; ${holder} has the Lease, and may be about to begin one: then the same command once more`),
  'not-paused': ({ asked }) => `no run of ${asked} is paused: nothing to resume`,
  'no-lease-for-order': ({ runs, asked }) =>
    `${runsOf({ runs, asked })}: the Lease that the order would stand on is gone; a process that ` +
    'is at work stops for that within seconds, and then only the same command, or an abort that waits, goes on with it',
  'being-aborted': ({ runs, by }) =>
    `${agreeing(runs, 'run', 'runs')} ${runs.join(', ')} ${agreeing(runs, 'is', 'are')} being aborted (by ${by}), which is never taken back`,
  'order-may-stand': ({ because }, write) =>
    `${write.reason(because)}: whether this stands is not known; the same command once more makes sure of it`,
  'order-stands-unsure': ({ because }, write) =>
    `${write.reason(because)}: it stands, and whether a run has begun meanwhile is not known; the same command once more makes sure of it`,
  'begun-after-abort': ({ run, runs }) =>
    `run ${run} was begun after the order to abort ${runs.join(', ')}, and has to settle what that left: it goes on, unless it is aborted too`,
  'abort-stays-ordered': ({ because }, write) => `${write.reason(because)}; the abort stays ordered`,
  'no-pods-by-selector': ({ selector, namespace }) =>
    `no pods match ${selector} in namespace ${namespace}; check the selector, and the namespace, or name the workload`,
  'half-done-without-record': ({ pod }) => `pod/${pod} is half done`,
  'record-of-run-unreadable': ({ run }) => `the record of run ${run} cannot be read`,
}
