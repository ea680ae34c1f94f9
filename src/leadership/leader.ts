import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

export interface LeaderOptions {
  client: KubeClient
  clock: Clock
  random: Random
  namespace: string
  /** The name of the Lease. */
  name: string
  /** The name of this replica, different for each process. */
  identity: string
  signal: AbortSignal
  onChange?(isLeader: boolean): void
  onError?(error: Error): void
}

/** One of several replicas leads: the holder of a Lease. */
export interface Leader {
  /** False from the moment at which another replica may lead, by the monotonic clock of this process. */
  isLeader(): boolean
  /** Throws where this replica does not lead now. To be called right before the bytes of a write leave. */
  assertLeader(): void
  /** Resolves after the signal, once the Lease is released. */
  ended: Promise<void>
}
