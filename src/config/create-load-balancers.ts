import type { Adapter } from '../../adapters/contract.ts'
import type { Config, ConfiguredRate } from './config.ts'

/** What the engine takes as one load balancer. */
export interface CreatedLoadBalancer {
  name: string
  adapterName: string
  adapter: Adapter
  port: number | string
  drainTurn: number
  rate?: ConfiguredRate
}

/** Makes the adapter of each configured load balancer. Opens no connection yet; whoever calls closes the adapters. */
export function createLoadBalancers(config: Config): CreatedLoadBalancer[] {
  return config.loadBalancers.map(({ name, adapter, definition, port, options, drainTurn, rate }) => ({
    name,
    adapterName: adapter,
    adapter: definition.create(options, { name, folder: config.folder }),
    port,
    drainTurn,
    ...(rate === undefined ? {} : { rate }),
  }))
}
