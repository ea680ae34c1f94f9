import type { LoadBalancer } from '../../engine/request.ts'
import type { ScopeQueues } from '../../engine/traffic/scope-queues.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import type { Subject } from '../explanation.ts'

export interface ExplainRequest {
  namespace: string
  about: Subject
  /** Absent where the request is about a Service. */
  ref?: WorkloadId
}

/** The nodes whose Leases are watched, and the longest duration of that. */
export interface LeaseWatch {
  nodes: string[]
  forMs: number
}

export interface ExplainPorts {
  client: KubeClient
  kinds: Kinds
  clock: Clock
  /** The load balancers of the config; empty where there is no config. */
  loadBalancers: readonly LoadBalancer[]
  queues: ScopeQueues
  signal: AbortSignal
  onWatching?: (watch: LeaseWatch) => void
}
