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

/** So many calls may begin in each stretch of so many milliseconds. Load balancers of one account share it. */
export interface Rate {
  calls: number
  perMs: number
  account: string
}

/** One configured load balancer, with its adapter made. */
export interface LoadBalancer {
  name: string
  /** Name of the adapter, for display. */
  adapterName: string
  adapter: Adapter
  /** Container port, by number or name. */
  port: number | string
  /** A pod is drained in all of one turn at once, the lowest first, and put back in reverse. Default 0. */
  drainTurn?: number
  /** How many calls may begin in a time. Default: any number. */
  rate?: Rate
  /** Each change of it is made under this. Default: none. */
  lock?: DocumentLock
}

/** One writer at a time of a document that has no version: all that name it alike exclude each other. */
export interface DocumentLock {
  /** Of the cluster that has the Lease. */
  client: KubeClient
  namespace: string
  document: string
}

export interface RunRequest {
  namespace: string
  /** Either workloads and pods by name, or pods by label selector. */
  select: { refs: WorkloadId[] } | { labelSelector: string }
  /** Empty: bring the pods to their workload's own template. */
  images: ContainerImage[]
  settings: RunSettings
  /** Patch the pods alone of a kind whose template is not written, though that then differs. */
  acceptTemplateDrift: boolean
  /** Upgrade pods that are in none of the load balancers, without a drain. */
  allowUnbalanced: boolean
  /** Load balancers that earlier runs used and that the config does not have: somebody says that they serve these pods no more. */
  retiredLoadBalancers?: readonly string[]
  /** Take an earlier run back, in place of `images`. */
  undo?: UndoRequest
  /**
   * End the open run in place of going on with it; `images` are that run's. `by` says who wants it, `runs` which ones were meant,
   * `seen` which Leases were watched already.
   */
  abort?: { by: string; runs: readonly string[]; seen: ReadonlyMap<string, SeenLease> }
  /** End with the outcome `paused` once a pause has come to rest, in place of waiting for its end. */
  exitWhenPaused?: boolean
}

/** Everything from outside, given at one place. */
export interface RunPorts {
  client: KubeClient
  /** Of the same client; all runs of a process share it. */
  observation: SharedObservation
  loadBalancers: LoadBalancer[]
  /** All runs of a process that have these load balancers share them. */
  queues: ScopeQueues
  /** Of workloads. Default: those that sluice knows by itself. */
  kinds?: Kinds
  clock: Clock
  random: Random
  /** Names this process in the Lease, such as HOST_PID. */
  identity: string
  onEvent: (event: RunEvent) => void
}
