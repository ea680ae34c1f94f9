export type BalancerName = 'embedded' | 'haproxy'

/** A load balancer that runs for the demo, with an entry for each pod. */
export interface Balancer {
  /** As people call it, with its version where it has one. */
  title: string
  /** Where requests go. */
  url: string
  /** Its entry under `loadBalancers` in the config that sluice gets. */
  config: Record<string, unknown>
  /** Whether each pod is in rotation, as the load balancer itself says. */
  look(): Promise<ReadonlyMap<string, boolean>>
  drain(pod: string): Promise<void>
  restore(pod: string): Promise<void>
}

export interface BalancerOptions {
  /** Where each one listens: host:port. */
  pods: readonly { name: string; address: string }[]
  /** The container port, as their spec says. */
  port: number
  /** For files that go with the demo. */
  folder: string
}
