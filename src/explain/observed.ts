import type { ControllerRules } from '../endpoints/controller-rules.ts'
import type { Service } from '../endpoints/objects.ts'
import type { StoredEndpoints, StoredNode, StoredPod, StoredSlice } from '../endpoints/stored.ts'
import type { Reason } from '../reasons/reason.ts'
import type { RunOfPod, Subject, Unread } from './explanation.ts'

/* The observed state of the cluster and the load balancers. */

/** The Lease of a node. */
export interface Heartbeat {
  /** The time of the last renewal, by the clock of the node. */
  renewedAt?: string
  /** The result of watching the Lease for `watchedMs`, by the clock of this process; absent where the Lease was not watched. */
  seen?: 'renewed' | 'silent'
  watchedMs?: number
}

/** The answer of a load balancer about a pod. */
export type ObservedEntry = { pod: string; loadBalancer: string } & (
  | {
      found: true
      target: string
      admin: 'in' | 'draining' | 'out' | 'absent' | 'unknown'
      routable: boolean
      weight?: number
      inFlight: number | null
      said?: string
      by?: Reason
    }
  | { found: false; because: Reason }
)

export interface RunFacts extends RunOfPod {
  /**
   * The entries that the journal names. `untouched` is true where an operator had the entry out. `drainedAt` is by the clock of the
   * process that recorded it.
   */
  targets: readonly { loadBalancer: string; target: string; untouched: boolean; drainedAt?: string }[]
}

export interface Observed {
  about: Subject
  rules: ControllerRules
  /** The Services of the namespace. */
  services: readonly Service[]
  pods: readonly StoredPod[]
  /** `pods` are all pods of the namespace, so a missing pod is gone. */
  hasAllPods: boolean
  /** The UIDs of the requested pods. For a Service, these are the pods that it selects, and the pods in its slices. */
  asked: ReadonlySet<string>
  /** The slices; absent where they could not be read. */
  slices?: readonly StoredSlice[]
  endpoints?: readonly StoredEndpoints[]
  nodes?: readonly StoredNode[]
  /** The Leases of nodes, by the name of the node. */
  heartbeats: ReadonlyMap<string, Heartbeat>
  /** The number of pods that a workload is to have. */
  wanted?: number
  /** The entries. `pod` is the UID of the pod. */
  entries: readonly ObservedEntry[]
  /** The runs, by the UID of the pod. */
  runs: ReadonlyMap<string, RunFacts>
  unread: readonly Unread[]
}
