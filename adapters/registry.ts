/**
 * The built-in adapters by their name in the config: adapters in code, and presets of the adapter `http`. sluice loads an adapter on
 * demand, so a command without adapters does not load their option schemas and client libraries.
 */
import { join } from 'node:path'
import type { AdapterDefinition } from './contract.ts'

const loaders = new Map<string, () => Promise<AdapterDefinition>>([
  ['aws-elbv2', async () => (await import('./aws-elbv2/index.ts')).awsElbv2 as AdapterDefinition],
  ['endpointslice', async () => (await import('./endpointslice/index.ts')).endpointslice],
  ['envoy', async () => (await import('./envoy/index.ts')).envoy],
  ['haproxy', async () => (await import('./haproxy/index.ts')).haproxy],
  ['exec', async () => (await import('./exec/index.ts')).exec as AdapterDefinition],
  ['http', async () => (await import('./http/index.ts')).http],
  ['nginx', async () => (await import('./nginx/index.ts')).nginx],
  ['remote', async () => (await import('./remote/index.ts')).remote as AdapterDefinition],
  ['traefik', async () => (await import('./traefik/index.ts')).traefik],
])

/** The names of the presets. Each preset is a file `presets/NAME.yaml`. */
export const presetNames: readonly string[] = ['caddy', 'consul', 'consul-catalog', 'eureka', 'f5']

export const adapterNames: readonly string[] = [...loaders.keys(), ...presetNames]

/** The folder of the presets. The path works from the source, from the library, and from the bundle of the command line. */
const PRESETS = join(import.meta.dirname, '../adapters/presets')

export async function loadAdapter(name: string): Promise<AdapterDefinition> {
  if (presetNames.includes(name)) return loadPresetFile(join(PRESETS, `${name}.yaml`))
  const load = loaders.get(name)
  if (load === undefined) throw new Error(`There is no adapter ${name}; there are: ${adapterNames.join(', ')}`)
  return load()
}

/** @throws ConfigError */
export async function loadPresetFile(file: string): Promise<AdapterDefinition> {
  const { loadPreset } = await import('../src/config/preset-file.ts')
  const { definePreset } = await import('./http/preset.ts')
  return definePreset(await loadPreset(file)) as AdapterDefinition
}
