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
  /** Absent of a Service. */
  ref?: WorkloadId
}

/** Leases of nodes are watched, for so long at most. */
export interface LeaseWatch {
  nodes: string[]
  forMs: number
}

export interface ExplainPorts {
  client: KubeClient
  kinds: Kinds
  clock: Clock
  /** None where no config is given. */
  loadBalancers: readonly LoadBalancer[]
  queues: ScopeQueues
  signal: AbortSignal
  onWatching?: (watch: LeaseWatch) => void
}
