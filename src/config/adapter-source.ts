import type { AdapterDefinition } from '../../adapters/contract.ts'

/** Where adapters come from; the built-in ones unless a test gives its own. */
export interface AdapterSource {
  adapterNames: readonly string[]
  loadAdapter(name: string): Promise<AdapterDefinition>
}
