import type { Reason } from './reason.ts'

/** Of a code that says it all. */
export type NoFields = Record<never, never>

/** What has led to it, where that is known. */
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
  /** Requests under way; null where that cannot be known. */
  inFlight: number | null
  /** In the words of the adapter. */
  said?: string
  /** Where sluice did not read it from the load balancer: what it goes by, or why it could not. */
  by?: Reason
}

/** One object of the API, within the namespace that is told about. */
export interface ObjectName {
  kind: string
  name: string
}

/** The client that has last written a part of an object, as its `managedFields` name it. */
export interface Writer {
  /** As the client calls itself: `kubelet`, `kubectl-edit`. */
  manager: string
  /** `person`: kubectl. */
  is: 'kubelet' | 'controller-manager' | 'person' | 'sluice' | 'other'
  /** When it has last changed a field that it owns, by the clock of the API server. */
  at?: string
}
