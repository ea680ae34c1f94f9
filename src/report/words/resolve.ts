import type { ResolveReasons } from '../../reasons/resolve-reasons.ts'
import { cause, entries, type WordsOf } from './writing.ts'

const NOTHING = { live: 'open for the present', gone: 'left of a former', any: 'open for' }

const bracketed = (some: Parameters<typeof entries>[0]): string => (some.length === 0 ? '' : ` (${entries(some)})`)

/** The words for a person's report that is not recorded. */
export const resolving: WordsOf<ResolveReasons> = {
  'nothing-to-resolve': ({ pod, namespace, of }) =>
    `there is nothing to resolve: nothing is ${NOTHING[of]} pod/${pod} in namespace ${namespace}`,
  'two-pods-of-name': ({ pod, live, gone }) =>
    `two pods had the name ${pod}, and something is open for both: for the one that is there${bracketed(live)}, ` +
    `and for one that is gone${bracketed(gone)}: say which you mean, with --live the one that is ` +
    'there, with --gone what is left of the other; of both, one after the other',
  'not-in-named-load-balancers': ({ pod, known, named }) =>
    `pod/${pod} is on record in ${known.join(', ') || 'no load balancer'}, not in ${named.join(', ')}`,
  'pod-has-ended': ({ pod }) =>
    `pod/${pod} has ended for good, and is not put back any more: point its entries at the pod in its place, leave them drained, ` +
    'and run the same command again; or, once each is as it should be, put back, removed or left out for good, say --traffic in',
  'pod-at-other-address': ({ pod }) =>
    `pod/${pod} has another address than its entries: point them at it and run the same command again, or say that it is in once it is`,
  'pod-is-gone': ({ pod }) =>
    `pod/${pod} is gone, and a run puts its entries back for a ready pod at their address: point them at the pod in its ` +
    'place, leave them drained, and run the same command again; or, once each is as it should be, put back, removed or ' +
    'left out for good, say --traffic in',
  'nothing-on-record': ({ pod }) =>
    `pod/${pod}: its journal cannot be read, and no ledger says what was drained for it: bring it into rotation by hand, and say that it is in`,
  'say-of-rest-too': ({ pod, loadBalancers }) =>
    `pod/${pod}: it is not on its way back yet, and would be patched while it takes requests: say it of ${loadBalancers.join(', ')} too`,
  'said-in-before': ({ pod, loadBalancers }) =>
    `pod/${pod}: it is in rotation in ${loadBalancers.join(', ')}, as was said before: put it back in the others by hand, and say --traffic in`,
  'say-first-where-in': ({ pod, loadBalancers }) =>
    `pod/${pod}: it was on its way back, which begins anew: say first which of ${loadBalancers.join(', ')} it is in`,
  'not-all-recorded': ({ because }, write) =>
    `${because === undefined ? '' : `${write.reason(because)}: `}not all of it may be recorded; the same command once more makes sure of it`,
  'record-changed-meanwhile': ({ pod, because }, write) =>
    `somebody has changed the record of pod/${pod} meanwhile${cause(because, write)}`,
  'report-not-told': ({ because }, write) => `it is recorded, and no report of the run will tell of it${cause(because, write)}`,
}
