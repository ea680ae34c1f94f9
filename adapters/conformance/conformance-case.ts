import type { Adapter } from '../contract.ts'
import type { Bed } from './bed.ts'
import type { Requirement } from './requirements.ts'

/** The check of one promise of the contract, on its own bed. */
export interface ConformanceCase {
  title: string
  /** The number of servers that the case needs. Default: 3. */
  servers?: (adapter: Adapter) => number
  /** True if the case changes nothing. */
  readsOnly?: boolean
  /** The requirements of the case. If the bed or the adapter lacks one, the case does not apply. Otherwise its bed has all of them. */
  needs?: readonly Requirement[]
  run(bed: Bed): Promise<void>
}
