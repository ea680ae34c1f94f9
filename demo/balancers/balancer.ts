export type BalancerName = 'embedded' | 'haproxy'

/** A load balancer that runs for the demo, with an entry for each pod. */
export interface Balancer {
  /** The usual name of the load balancer, with its version where it has one. */
  title: string
  /** The URL for requests. */
  url: string
  /** The entry under `loadBalancers` in the config for sluice. */
  config: Record<string, unknown>
  /** Returns whether each pod is in rotation, as the load balancer itself reports it. */
  look(): Promise<ReadonlyMap<string, boolean>>
  drain(pod: string): Promise<void>
  restore(pod: string): Promise<void>
}

export interface BalancerOptions {
  /** The pods, with the address that each listens at: host:port. */
  pods: readonly { name: string; address: string }[]
  /** The container port, as in the spec of the pods. */
  port: number
  /** The folder for files that go with the demo. */
  folder: string
}
