import type { Because, LoadBalancerEntry, EntryReading, NamedImage, NoFields } from './fields.ts'

/** What load balancers and their entries say, and why a call was not sent. */
export interface TrafficReasons {
  /** The entries of a pod as their load balancers showed them. */
  'entries-read': { entries: EntryReading[] }
  'in-no-load-balancer': NoFields
  'out-by-operator': NoFields
  /** A person has said so, and the load balancer cannot be read. */
  'said-by-person': NoFields
  /** The load balancer cannot be read back. */
  'cannot-read-back': NoFields
  'entry-cannot-read-back': LoadBalancerEntry
  'entry-is-out': LoadBalancerEntry
  /** What the load balancer says may be from before the restore. */
  'reading-may-be-old': { loadBalancer: string }
  'restore-may-not-show': LoadBalancerEntry
  /** In the adapter's canonical form. */
  'entry-differs': LoadBalancerEntry & { now: string; before: string }
  'gets-no-requests': { entry: EntryReading }
  'pod-without-address': { pod: string }
  /** The pod is not drained, and `drain.notFor` or its record does not name these containers. */
  'needs-drain': { pod: string; containers: string[] }
  'no-port': { pod: string; port: string }
  /** In the words of the adapter. */
  'not-found': { loadBalancer: string; said: string }
  /** Looked for at these addresses. */
  'no-entry-at': { loadBalancer: string; addresses: string[] }
  /** Its entries are being changed at this moment. */
  'entries-changing': { pod: string }
  /** At its new address the pod is in these entries, or in none. */
  'at-new-address': { address?: string; entries: LoadBalancerEntry[] } & Because
  /** The earlier call has no answer, and the load balancer cannot be read back. */
  'effect-unanswered': { loadBalancer: string; effect: 'drain' | 'restore' }
  /** The load balancer has accepted the change as a job. */
  'job-accepted': { loadBalancer: string; effect: 'drain' | 'restore'; job?: string }
  'job-overdue': { longestMs: number }
  /** A job on the same scope is not done. */
  'other-job': { loadBalancer: string; scope: string }
  /** A load balancer's document has no version, and another writer holds its Lease. No holder: somebody has cleared or deleted it. */
  'document-locked': { lease: string; namespace: string; holder: string }
  'document-not-locked': { lease: string; namespace: string } & Because
  /** The call would have left so late that it could have outlived the Lease. */
  'document-lock-old': { lease: string; namespace: string }
  'run-ended': NoFields
  'lease-not-held': NoFields
  'pod-gone': NoFields
  'pod-moved': { pod: string }
  'pod-going': { pod: string }
  'pod-not-ready-any-more': { pod: string }
  /** The pods cannot be watched, so that the readiness of the pod is not known. */
  'readiness-unknown': { pod: string }
  'has-other-containers': { pod: string }
  'no-longer-to-stay-out': NoFields
  'events-forbidden': NoFields
  /** A later owner has written the journal of the pod. */
  'later-owner-wrote': NoFields
  /** The dry run came back with other images. */
  'dry-run-differs': { images: NamedImage[] }
  /** A replacement has come all the same, and whether it is in rotation cannot be known. */
  'replacement-in-doubt': { replacement: string } & Because
  'replacement-is-out': { replacement: string }
  'replacement-elsewhere': { replacement: string } & Because
}
