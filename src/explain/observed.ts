import type { ControllerRules } from '../endpoints/controller-rules.ts'
import type { Service } from '../endpoints/objects.ts'
import type { StoredEndpoints, StoredNode, StoredPod, StoredSlice } from '../endpoints/stored.ts'
import type { Reason } from '../reasons/reason.ts'
import type { RunOfPod, Subject, Unread } from './explanation.ts'

/* What was seen of the cluster and the load balancers, as it was seen. */

/** The Lease of a node. */
export interface Heartbeat {
  /** By the clock of the node. */
  renewedAt?: string
  /** `renewed`, `silent`: as seen in `watchedMs`, by the clock of this process. Absent where nobody has watched. */
  seen?: 'renewed' | 'silent'
  watchedMs?: number
}

/** What a load balancer says of a pod. */
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
  /** Entries that the journal names. `untouched`: an operator had it out. `drainedAt`: by the clock of the process that has told it. */
  targets: readonly { loadBalancer: string; target: string; untouched: boolean; drainedAt?: string }[]
}

export interface Observed {
  about: Subject
  rules: ControllerRules
  /** Of the namespace. */
  services: readonly Service[]
  pods: readonly StoredPod[]
  /** `pods` are all of the namespace: what is missing there is gone. */
  hasAllPods: boolean
  /** The UIDs of the pods that are asked about; of a Service, those that it selects. */
  asked: ReadonlySet<string>
  /** Absent: they could not be read. */
  slices?: readonly StoredSlice[]
  endpoints?: readonly StoredEndpoints[]
  nodes?: readonly StoredNode[]
  /** By the name of the node. */
  heartbeats: ReadonlyMap<string, Heartbeat>
  /** Of a workload: how many pods it is to have. */
  wanted?: number
  /** By the UID of the pod. */
  entries: readonly ObservedEntry[]
  /** By the UID of the pod. */
  runs: ReadonlyMap<string, RunFacts>
  unread: readonly Unread[]
}
