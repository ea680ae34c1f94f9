import type { AdapterDefinition } from '../../adapters/contract.ts'

/** The source of the adapters: the built-in ones, unless a test supplies its own. */
export interface AdapterSource {
  adapterNames: readonly string[]
  loadAdapter(name: string): Promise<AdapterDefinition>
}
