import type { AdapterDefinition } from '../../adapters/contract.ts'
import { adapterNames, loadAdapter } from '../../adapters/registry.ts'
import type { Config } from '../config/config.ts'
import type { AdapterSource } from '../config/adapter-source.ts'
import { configOf, loadConfig as loadConfigFile } from '../config/load-config.ts'

export interface ConfigOptions {
  /** Adapters beside the built-in ones, by the name that `adapter:` in the config gives; one of a built-in name takes its place. */
  adapters?: readonly AdapterDefinition[]
}

/** Reads and checks a config file such as `sluice.yaml`. Rejects with a ConfigError that holds everything that is wrong in it. */
export async function loadConfig(file: string, options: ConfigOptions = {}): Promise<Config> {
  return loadConfigFile(file, sourceOf(options))
}

/** The same for a config that is no file: what such a file holds, as an object. */
export async function checkConfig(document: unknown, options: ConfigOptions = {}): Promise<Config> {
  return configOf(document, sourceOf(options))
}

function sourceOf({ adapters = [] }: ConfigOptions): AdapterSource {
  const own = new Map(adapters.map((definition) => [definition.name, definition]))
  return {
    adapterNames: [...new Set([...adapterNames, ...own.keys()])],
    loadAdapter: async (name) => own.get(name) ?? loadAdapter(name),
  }
}
