import type { Adapter } from '../../adapters/contract.ts'
import type { KubeClient } from '../kube/client.ts'
import type { SharedObservation } from '../observation/observation.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import type { WorkloadId } from '../pods/workload-id.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import type { RunEvent } from './events.ts'
import type { RunSettings } from './settings.ts'
import type { UndoRequest } from './undoing.ts'
import type { SeenLease } from './leases/ownership.ts'
import type { ScopeQueues } from './traffic/scope-queues.ts'

/**
 * The limit of calls to a load balancer: at most `calls` calls begin in each `perMs` milliseconds. Load balancers of one account share the
 * limit.
 */
export interface Rate {
  calls: number
  perMs: number
  account: string
}

/** One configured load balancer with its adapter. */
export interface LoadBalancer {
  name: string
  /** The name of the adapter, for display. */
  adapterName: string
  adapter: Adapter
  /** The container port, by number or by name. */
  port: number | string
  /**
   * The turn of this load balancer in a drain. A pod is drained turn by turn, the lowest turn first, and restored in reverse. Default 0.
   */
  drainTurn?: number
  /** The limit of calls. Default: no limit. */
  rate?: Rate
  /** The lock that each change of the load balancer's configuration needs. Default: no lock. */
  lock?: DocumentLock
}

/** A lock on a document without versions. Writers that use the same name of the document exclude each other. */
export interface DocumentLock {
  /** The client of the cluster that holds the Lease of the lock. */
  client: KubeClient
  namespace: string
  document: string
}

export interface RunRequest {
  namespace: string
  /** The pods of the run: workloads and pods by name, or pods by label selector. */
  select: { refs: WorkloadId[] } | { labelSelector: string }
  /** The images to set. With an empty list, sluice brings the pods to the template of their workload. */
  images: ContainerImage[]
  settings: RunSettings
  /** Accept that pods of a kind whose template sluice does not write get images that differ from the template. */
  acceptTemplateDrift: boolean
  /** Upgrade pods that are in none of the load balancers, without a drain. */
  allowUnbalanced: boolean
  /** Load balancers of earlier runs that the config does not have any more. The operator confirms that they send these pods no requests. */
  retiredLoadBalancers?: readonly string[]
  /** The earlier run to take back, in place of `images`. */
  undo?: UndoRequest
  /**
   * End the open run instead of going on with it. `images` are those of the open run. `by` names the origin of the order, `runs` the runs
   * that it means, and `seen` the Leases that were watched before.
   */
  abort?: { by: string; runs: readonly string[]; seen: ReadonlyMap<string, SeenLease> }
  /** End with the outcome `paused` once a pause has come to rest, instead of waiting for the end of the pause. */
  exitWhenPaused?: boolean
}

/** The ports of a run: everything that the engine uses of the outside world. */
export interface RunPorts {
  client: KubeClient
  /** The observation of the same client. All runs of a process share it. */
  observation: SharedObservation
  loadBalancers: LoadBalancer[]
  /** The queues of the load balancers' scopes. All runs of a process with the same load balancers share them. */
  queues: ScopeQueues
  /** The kinds of workloads. Default: the kinds that are built into sluice. */
  kinds?: Kinds
  clock: Clock
  random: Random
  /** The name of this process in the Lease, such as HOST_PID. */
  identity: string
  onEvent: (event: RunEvent) => void
}
