import type { Adapter } from '../../adapters/contract.ts'
import { PluginError } from '../../adapters/plugins/plugin-error.ts'
import { ConfigError } from './config-error.ts'
import type { Config, ConfiguredLoadBalancer, ConfiguredLock, ConfiguredRate } from './config.ts'

/** A load balancer as the engine uses it. */
export interface CreatedLoadBalancer {
  name: string
  adapterName: string
  adapter: Adapter
  port: number | string
  drainTurn: number
  rate?: ConfiguredRate
  lock?: ConfiguredLock
}

/**
 * Creates the adapter of each configured load balancer. Opens no connection yet; the caller closes the adapters.
 * @throws ConfigError if a plugin returns no adapter
 */
export function createLoadBalancers(config: Config): CreatedLoadBalancer[] {
  return config.loadBalancers.map((one, index) => {
    const { definition: _definition, options: _options, adapter: adapterName, ...others } = one
    return { ...others, adapterName, adapter: createAdapter(config, one, index) }
  })
}

function createAdapter({ file, folder }: Config, one: ConfiguredLoadBalancer, index: number): Adapter {
  const { name, adapter, definition, options } = one
  try {
    return definition.create(options, { name, folder })
  } catch (error) {
    if (!(error instanceof PluginError)) throw error
    const { message, way } = error
    const issue = { path: `loadBalancers[${index}].adapter`, message: `adapter ${adapter} cannot be used: ${message}` }
    const found = { ...issue, ...(way === undefined ? {} : { hint: way }), line: 0, column: 0 }
    throw new ConfigError(file, [found], { cause: error })
  }
}
