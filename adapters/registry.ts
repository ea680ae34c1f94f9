/**
 * The load balancers that sluice knows, by the name that the config gives. Each is loaded when it is asked for:
 * a command that needs none must not pay for their option schemas and client libraries.
 */
import type { AdapterDefinition } from './contract.ts'

const loaders = new Map<string, () => Promise<AdapterDefinition>>([
  ['haproxy', async () => (await import('./haproxy/index.ts')).haproxy],
  ['http', async () => (await import('./http/index.ts')).http],
])

export const adapterNames: readonly string[] = [...loaders.keys()]

export async function loadAdapter(name: string): Promise<AdapterDefinition> {
  const load = loaders.get(name)
  if (load === undefined) throw new Error(`There is no adapter ${name}; there are: ${adapterNames.join(', ')}`)
  return load()
}
