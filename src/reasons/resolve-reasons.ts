import type { Because, LoadBalancerEntry } from './fields.ts'

/** The reasons why the report of a person about a pod is not recorded. */
export interface ResolveReasons {
  /** `of`: the existing pod, the remains of pods that are gone, or either. */
  'nothing-to-resolve': { pod: string; namespace: string; of: 'live' | 'gone' | 'any' }
  /** There is open work for the existing pod, and for a former pod of that name. */
  'two-pods-of-name': { pod: string; live: LoadBalancerEntry[]; gone: LoadBalancerEntry[] }
  'not-in-named-load-balancers': { pod: string; known: string[]; named: string[] }
  /** The containers of the pod have ended for good; the pod is not put back any more. */
  'pod-has-ended': { pod: string }
  /** The entries have another address than the pod. */
  'pod-at-other-address': { pod: string }
  /** The pod is gone; a run puts its entries back for the replacement. */
  'pod-is-gone': { pod: string }
  /** The journal is not readable, and no ledger has a record of the drained entries. */
  'nothing-on-record': { pod: string }
  /** The report must include these load balancers too. Otherwise the pod would be patched while they send it requests. */
  'say-of-rest-too': { pod: string; loadBalancers: string[] }
  /** An earlier report says that the pod is in rotation in these load balancers. */
  'said-in-before': { pod: string; loadBalancers: string[] }
  'say-first-where-in': { pod: string; loadBalancers: string[] }
  'not-all-recorded': Because
  'record-changed-meanwhile': { pod: string } & Because
  'report-not-told': Because
}
