import { adapterNames, loadAdapter } from '../../adapters/registry.ts'
import { unlessAborted } from '../kube/unless-aborted.ts'
import type { Config } from '../config/config.ts'
import type { ConfigOptions } from './options.ts'
import type { AdapterSource } from '../config/adapter-source.ts'
import { assertShape } from './request/parsed.ts'
import { configFile, configOptions } from './request/sluice-options.ts'
import { configOf, loadConfig as loadConfigFile } from '../config/load-config.ts'

const CHOICE = 'give the path of a config file'

/**
 * Reads and checks a config file such as `sluice.yaml`. Rejects with a ConfigError that lists every problem in the file, and with a
 * RequestError for invalid arguments.
 */
export async function loadConfig(file: string, options: ConfigOptions = {}): Promise<Config> {
  assertShape(configFile, { file }, 'file')
  return unlessEnded(options, () => loadConfigFile(file, sourceOf(options), { choice: CHOICE }))
}

/** Checks a config that is given as an object, with the structure of a config file. Rejects as `loadConfig` does. */
export async function checkConfig(document: unknown, options: ConfigOptions = {}): Promise<Config> {
  return unlessEnded(options, () => configOf(document, sourceOf(options)))
}

async function unlessEnded(options: ConfigOptions, load: () => Promise<Config>): Promise<Config> {
  assertShape(configOptions, options, 'options')
  const { signal } = options
  signal?.throwIfAborted()
  return signal === undefined ? load() : unlessAborted(load(), signal)
}

function sourceOf(options: ConfigOptions): AdapterSource {
  const { adapters = [] } = options
  const own = new Map(adapters.map((definition) => [definition.name, definition]))
  return {
    adapterNames: [...new Set([...adapterNames, ...own.keys()])],
    loadAdapter: async (name) => own.get(name) ?? loadAdapter(name),
  }
}
