import type { Because, LoadBalancerEntry } from './fields.ts'

/** Why what a person says of a pod is not recorded. */
export interface ResolveReasons {
  /** `of`: the pod that is there, what is left of pods that are gone, or either. */
  'nothing-to-resolve': { pod: string; namespace: string; of: 'live' | 'gone' | 'any' }
  /** Something is open for the pod that is there, and for a pod of the same name that is gone. */
  'two-pods-of-name': { pod: string; live: LoadBalancerEntry[]; gone: LoadBalancerEntry[] }
  'not-in-named-load-balancers': { pod: string; known: string[]; named: string[] }
  /** The containers of the pod have ended for good: it is not put back any more. */
  'pod-has-ended': { pod: string }
  /** The entries mean another address than that of the pod. */
  'pod-at-other-address': { pod: string }
  /** A run puts the entries of a pod that is gone back for its replacement. */
  'pod-is-gone': { pod: string }
  /** The journal cannot be read, and no ledger says what was drained. */
  'nothing-on-record': { pod: string }
  /** The pod would be patched while the load balancers that are not named send it requests. */
  'say-of-rest-too': { pod: string; loadBalancers: string[] }
  /** The pod is in rotation in these, as was said before. */
  'said-in-before': { pod: string; loadBalancers: string[] }
  'say-first-where-in': { pod: string; loadBalancers: string[] }
  'not-all-recorded': Because
  'record-changed-meanwhile': { pod: string } & Because
  'report-not-told': Because
}
