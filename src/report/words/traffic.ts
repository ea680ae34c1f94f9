import type { TrafficReasons } from '../../reasons/traffic-reasons.ts'
import { imageWords } from './images.ts'
import { agreeing, cause, entries, entryReading, seconds, type WordsOf } from './writing.ts'

/** The words for the state of load balancers and entries, and for calls that were not sent. */
export const traffic: WordsOf<TrafficReasons> = {
  'entries-read': ({ entries: some }, write) => some.map((one) => entryReading(one, write)).join('; '),
  'in-no-load-balancer': () => 'in no load balancer',
  'out-by-operator': () => 'out of rotation by an operator',
  'said-by-person': () => 'as a person says; it cannot be read',
  'cannot-read-back': () => 'it cannot be read back',
  'entry-cannot-read-back': (entry) => `${entries([entry])} cannot be read back`,
  'entry-is-out': (entry) => `${entries([entry])} is out, by all that is known`,
  'reading-may-be-old': ({ loadBalancer }) => `what ${loadBalancer} says may be from before the restore`,
  'restore-may-not-show': (entry) => `${entries([entry])} may not show its restore yet`,
  'entry-differs': ({ now, before, ...entry }) => `${entries([entry])} is ${now}, it was ${before}`,
  'gets-no-requests': ({ entry }, write) => `it gets no requests: ${entryReading(entry, write)}`,
  'pod-without-address': ({ pod }) => `${pod} has no address yet`,
  'no-port': ({ pod, port }) => `no container of ${pod} has a port named "${port}"`,
  'not-found': ({ loadBalancer, said }) => `${loadBalancer}: ${said}`,
  'no-entry-at': ({ loadBalancer, addresses }) => `${loadBalancer} has no entry at ${addresses.join(' or ')}`,
  'needs-drain': ({ pod, containers }) =>
    `${pod} is not drained, and drain.notFor does not name ${containers.join(' and ')}: that needs a drain first`,
  'entries-changing': ({ pod }) => `the entries of ${pod} are changing`,
  'at-new-address': ({ address, entries: some, because }, write) =>
    `${address === undefined ? 'without an address' : `at its new address ${address}`} ${some.length === 0 ? `it is in no load balancer${cause(because, write)}` : `its ${agreeing(some, 'entry is', 'entries are')} ${entries(some)}`}`,
  'effect-unanswered': ({ loadBalancer, effect }) =>
    `${loadBalancer}: the ${effect} before has no answer, and cannot be read back`,
  'job-accepted': ({ loadBalancer, effect, job }) =>
    `${loadBalancer}: the ${effect} was accepted${job === undefined ? '' : ` (${job})`}, and is not done yet`,
  'job-overdue': ({ longestMs }) => `it was accepted, and not done within ${seconds(longestMs)}`,
  'other-job': ({ loadBalancer, scope }) => `${loadBalancer}: a change of ${scope} was accepted, and is not done yet`,
  'document-locked': ({ lease, namespace, holder }) =>
    holder === ''
      ? `the document may be written by another sluice: nobody says who has the Lease ${namespace}/${lease}, which is waited out`
      : `the document is being written by ${holder}, which has the Lease ${namespace}/${lease}`,
  'document-not-locked': ({ lease, namespace, because }, write) =>
    `the Lease ${namespace}/${lease} of the document cannot be taken${cause(because, write)}`,
  'document-lock-old': ({ lease, namespace }) =>
    `the Lease ${namespace}/${lease} of the document was taken too long ago for a call that leaves now`,
  'run-ended': () => 'the run has ended',
  'lease-not-held': () => 'the Lease is not held at this moment',
  'pod-gone': () => 'the pod is gone',
  'pod-moved': ({ pod }) => `${pod} is at another address`,
  'pod-going': ({ pod }) => `${pod} is going`,
  'pod-not-ready-any-more': ({ pod }) => `${pod} is not ready any more`,
  'readiness-unknown': ({ pod }) => `nobody knows whether ${pod} is ready: the pods cannot be watched`,
  'has-other-containers': ({ pod }) => `${pod} has other containers by now, or is about to get others`,
  'no-longer-to-stay-out': () => 'it is not to stay out any more',
  'events-forbidden': () => 'this run may not list Events',
  'later-owner-wrote': () => 'a later owner has written its journal',
  'dry-run-differs': ({ images: got }) =>
    `the dry run came back with other images (${imageWords(got, ', ')}): an admission webhook rewrites them`,
  'replacement-in-doubt': ({ replacement, because }, write) =>
    `${replacement} has come all the same, and whether it is in rotation cannot be known${cause(because, write)}`,
  'replacement-is-out': ({ replacement }) => `${replacement} has come there all the same, and is out of rotation`,
  'replacement-elsewhere': ({ replacement, because }, write) =>
    `${replacement} has come all the same${because === undefined ? '' : `, and ${write.reason(because)}`}`,
}
