import type { Because, LoadBalancerEntry, EntryReading, NamedImage, NoFields } from './fields.ts'

/** The state of load balancers and their entries, and the reasons why a call was not sent. */
export interface TrafficReasons {
  /** The entries of a pod as their load balancers showed them. */
  'entries-read': { entries: EntryReading[] }
  'in-no-load-balancer': NoFields
  'out-by-operator': NoFields
  /** A person has reported the state, because the load balancer is not readable. */
  'said-by-person': NoFields
  /** The entry cannot be read back from the load balancer. */
  'cannot-read-back': NoFields
  'entry-cannot-read-back': LoadBalancerEntry
  'entry-is-out': LoadBalancerEntry
  /** The state in the load balancer may be from before the restore. */
  'reading-may-be-old': { loadBalancer: string }
  'restore-may-not-show': LoadBalancerEntry
  /** The states in the adapter's canonical form. */
  'entry-differs': LoadBalancerEntry & { now: string; before: string }
  'gets-no-requests': { entry: EntryReading }
  'pod-without-address': { pod: string }
  /** The pod is not drained, and neither `drain.notFor` nor the pod's record allows these containers without a drain. */
  'needs-drain': { pod: string; containers: string[] }
  'no-port': { pod: string; port: string }
  /** `said`: the message of the adapter. */
  'not-found': { loadBalancer: string; said: string }
  /** `addresses`: the addresses that the load balancer was searched for. */
  'no-entry-at': { loadBalancer: string; addresses: string[] }
  /** The entries of the pod are being changed at this moment. */
  'entries-changing': { pod: string }
  /** The entries of the pod at its new address; none if the list is empty. */
  'at-new-address': { address?: string; entries: LoadBalancerEntry[] } & Because
  /** The earlier call has no answer, and the load balancer is not readable. */
  'effect-unanswered': { loadBalancer: string; effect: 'drain' | 'restore' }
  /** The load balancer has accepted the change as a job. */
  'job-accepted': { loadBalancer: string; effect: 'drain' | 'restore'; job?: string }
  'job-overdue': { longestMs: number }
  /** Another job in the same scope is not finished. */
  'other-job': { loadBalancer: string; scope: string }
  /**
   * The document of the load balancer has no version, and another writer holds its Lease. `holder` is empty if the Lease was cleared or
   * deleted.
   */
  'document-locked': { lease: string; namespace: string; holder: string }
  'document-not-locked': { lease: string; namespace: string } & Because
  /** The call was too late: it could have outlived the Lease. */
  'document-lock-old': { lease: string; namespace: string }
  'run-ended': NoFields
  'lease-not-held': NoFields
  'pod-gone': NoFields
  'pod-moved': { pod: string }
  'pod-going': { pod: string }
  'pod-not-ready-any-more': { pod: string }
  /** Watching the pods fails, so the readiness of the pod is not known. */
  'readiness-unknown': { pod: string }
  'has-other-containers': { pod: string }
  'no-longer-to-stay-out': NoFields
  'events-forbidden': NoFields
  /** A later owner has written the journal of the pod. */
  'later-owner-wrote': NoFields
  /** The dry run returned other images. */
  'dry-run-differs': { images: NamedImage[] }
  /** A replacement has come unexpectedly, and it is not known whether it is in rotation. */
  'replacement-in-doubt': { replacement: string } & Because
  'replacement-is-out': { replacement: string }
  'replacement-elsewhere': { replacement: string } & Because
}
