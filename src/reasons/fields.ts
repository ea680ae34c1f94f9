import type { Reason } from './reason.ts'

/** The fields of a code without fields. */
export type NoFields = Record<never, never>

/** The cause, if it is known. */
export interface Because {
  because?: Reason
}

/** One entry of a load balancer. */
export interface LoadBalancerEntry {
  loadBalancer: string
  target: string
}

/** The image of one container. */
export interface NamedImage {
  container: string
  image: string
}

/** One entry as its load balancer showed it. */
export interface EntryReading extends LoadBalancerEntry {
  admin: 'in' | 'draining' | 'out' | 'absent' | 'unknown'
  /** Requests under way; null if the load balancer does not report them. */
  inFlight: number | null
  /** The entry in the words of the adapter. */
  said?: string
  /**
   * The basis of an assumed state, or the reason why the entry was not readable. Absent if sluice read the entry from the load balancer.
   */
  by?: Reason
}

/** One API object of the namespace that the report is about. */
export interface ObjectName {
  kind: string
  name: string
}

/** The last writer of a part of an object, by its `managedFields`. */
export interface Writer {
  /** The name of the client in its own words: `kubelet`, `kubectl-edit`. */
  manager: string
  /** The category of the client. `person`: kubectl. */
  is: 'kubelet' | 'controller-manager' | 'person' | 'sluice' | 'other'
  /** The time of its last change of a field that it owns, by the clock of the API server. */
  at?: string
}
